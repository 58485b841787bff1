package jdkmatrix.standalone.rounds;

import java.util.Map;
import java.util.function.Consumer;
import jdkmatrix.common.command.Numbers;
import jdkmatrix.standalone.burn.ExecutorKind;
import jdkmatrix.standalone.command.ExperimentCommand;
import jdkmatrix.standalone.result.Expected;
import jdkmatrix.standalone.result.Findings;
import picocli.CommandLine.Option;

/** Hands tasks that all do the same to an executor, as many at once as a round has, again and again. */
abstract class RoundsCommand extends ExperimentCommand<RoundsPlan> {
    private static final int MAX_TASKS = 1_000_000;
    private static final double MAX_S = 86_400;

    @Option(
            names = "--executor",
            required = true,
            paramLabel = "KIND",
            description = "virtual, platform (a thread for each task), cached, fixed:N, virtual-bounded:N, work-stealing:N, "
                    + "fjp-fifo:N, fjp-lifo:N")
    private String executor;

    @Option(names = "--tasks", required = true, paramLabel = "N", description = "handed over at once; then all are waited for")
    private int tasks;

    @Option(names = "--duration-s", defaultValue = "10", paramLabel = "S", description = "measured (default: ${DEFAULT-VALUE})")
    private double durationS;

    @Option(
            names = "--warmup-s",
            defaultValue = "5",
            paramLabel = "S",
            description = "the same before, not measured (default: ${DEFAULT-VALUE})")
    private double warmupS;

    /** @throws IllegalArgumentException like {@link #asked} */
    abstract Map<String, Object> operationAsked();

    abstract Operation open(RoundsPlan asked) throws Exception;

    /** Returns the expectation, known before it runs. */
    abstract Expected expected(RoundsPlan asked);

    @Override
    protected final RoundsPlan asked() {
        ExecutorKind.parse(executor);
        return new RoundsPlan(
                executor,
                (int) Numbers.whole("--tasks", tasks, 1, MAX_TASKS),
                Numbers.positive("--duration-s", durationS, MAX_S),
                Numbers.zeroOrMore("--warmup-s", warmupS, MAX_S),
                operationAsked());
    }

    @Override
    protected final Findings run(RoundsPlan asked, Consumer<String> say) throws Exception {
        return Findings.of(expected(asked), () -> {
            try (Operation operation = open(asked)) {
                return new Rounds(asked, operation).measure(expected(asked), say);
            }
        });
    }
}
