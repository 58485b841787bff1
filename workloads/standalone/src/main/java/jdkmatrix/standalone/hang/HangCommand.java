package jdkmatrix.standalone.hang;

import java.util.List;
import java.util.function.Consumer;
import jdkmatrix.common.command.Numbers;
import jdkmatrix.standalone.command.Choice;
import jdkmatrix.standalone.command.ExperimentCommand;
import jdkmatrix.standalone.result.Findings;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code hang}. */
@Command(
        name = "hang",
        description = "Lets threads queue for a lock, all but the first inside a monitor or lock of their own, frees it, and "
                + "tells whether they go on. Where they hang, a dump of all threads goes to standard error. Carriers: "
                + "-Djdk.virtualThreadScheduler.parallelism=C.",
        mixinStandardHelpOptions = true)
public final class HangCommand extends ExperimentCommand<HangPlan> {
    private static final int MAX_COUNT = 10_000;
    private static final int MAX_HOLD_MS = 10_000;
    private static final int MAX_PATIENCE = 10_000;

    @Option(names = "--kind", required = true, paramLabel = "KIND", description = "virtual or platform")
    private String kind;

    @Option(names = "--count", required = true, paramLabel = "N", description = "threads that want the lock")
    private int count;

    @Option(names = "--inside", required = true, paramLabel = "NAME", description = "synchronized, or lock (a ReentrantLock)")
    private String inside;

    @Option(
            names = "--hold-ms",
            defaultValue = "20",
            paramLabel = "MS",
            description = "for how long each has the lock (default: ${DEFAULT-VALUE})")
    private int holdMs;

    @Option(
            names = "--patience",
            defaultValue = "200",
            paramLabel = "TIMES",
            description = "they hang when none has come to have the lock for so many times --hold-ms (default: ${DEFAULT-VALUE})")
    private int patience;

    @Override
    protected HangPlan asked() {
        return new HangPlan(
                Choice.parse("--kind", kind, List.of("virtual", "platform"), List.of()).word(),
                (int) Numbers.whole("--count", count, 2, MAX_COUNT),
                Choice.parse("--inside", inside, List.of("synchronized", "lock"), List.of()).word(),
                (int) Numbers.whole("--hold-ms", holdMs, 1, MAX_HOLD_MS),
                (int) Numbers.whole("--patience", patience, 2, MAX_PATIENCE));
    }

    @Override
    protected Findings run(HangPlan asked, Consumer<String> say) throws Exception {
        return new HangExperiment(asked, say).run();
    }
}
