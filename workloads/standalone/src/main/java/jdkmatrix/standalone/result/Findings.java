package jdkmatrix.standalone.result;

import java.util.concurrent.Callable;

/**
 * The outcome and the figures of an experiment.
 *
 * @param seen a record, written as a JSON object; null where nothing could be seen
 * @param expected null where the experiment ended before it could be worked out
 * @param span when {@code seen} was measured; null where nothing was
 */
public record Findings(Outcome outcome, Expected expected, Object seen, MeasuredSpan span) {
    /** Returns the findings of an experiment that ended before it measured. */
    public static Findings none(Outcome outcome, Expected expected) {
        return new Findings(outcome, expected, null, null);
    }

    /** Runs {@code experiment}; a full heap, or the lack of a thread that it needs, is an outcome. */
    public static Findings of(Expected expected, Callable<Findings> experiment) throws Exception {
        try {
            return experiment.call();
        } catch (OutOfMemoryError error) {
            return none(Outcome.of(error, null), expected);
        }
    }
}
