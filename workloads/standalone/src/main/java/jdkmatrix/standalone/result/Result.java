package jdkmatrix.standalone.result;

import java.time.Instant;
import jdkmatrix.common.command.Program;

/**
 * The JSON object that is printed.
 *
 * @param schemaVersion rises when a key changes its meaning or is removed; new keys do not raise it
 * @param asked all parameters, defaults included
 * @param measuredSpan null where nothing was measured
 */
public record Result(
        int schemaVersion,
        String experiment,
        String version,
        String startedUtc,
        String outcome,
        Problem problem,
        Object asked,
        Expected expected,
        MeasuredSpan measuredSpan,
        Object seen,
        Vm vm) {
    private static final int SCHEMA_VERSION = 1;

    /** The reason why the outcome is not "complete". */
    public record Problem(String message, Long atCount, String advice) {}

    public static Result of(String experiment, Instant started, Object asked, Findings findings) {
        Outcome outcome = findings.outcome();
        return new Result(
                SCHEMA_VERSION,
                experiment,
                Program.version(),
                started.toString(),
                outcome.kind().word(),
                outcome.isComplete() ? null : new Problem(outcome.message(), outcome.atCount(), outcome.advice()),
                asked,
                findings.expected(),
                findings.span(),
                findings.seen(),
                Vm.here());
    }
}
