package jdkmatrix.standalone.spawn;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import jdkmatrix.common.command.Numbers;
import jdkmatrix.standalone.command.Choice;
import jdkmatrix.standalone.command.ExperimentCommand;
import jdkmatrix.standalone.result.Findings;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code spawn}. */
@Command(
        name = "spawn",
        description = "Starts many threads at once and tells how long that takes and what they cost in memory. A host that "
                + "refuses threads is a result: how many there were. The stack of a platform thread is the JVM's -Xss.",
        mixinStandardHelpOptions = true)
public final class SpawnCommand extends ExperimentCommand<SpawnPlan> {
    private static final int MAX_COUNT = 10_000_000;
    private static final double MAX_SLEEP_S = 3_600;
    private static final double MAX_TIMEOUT_S = 3_600;
    private static final long MAX_ROUNDS = 100_000_000_000L;

    @Option(names = "--kind", required = true, paramLabel = "KIND", description = "virtual or platform")
    private String kind;

    @Option(names = "--count", required = true, paramLabel = "N", description = "threads")
    private int count;

    @Option(
            names = "--task",
            required = true,
            paramLabel = "TASK",
            description = "sleep:SECONDS (all of them live at once, and their memory is read), print (a line to --sink), "
                    + "burn:ROUNDS")
    private String task;

    @Option(
            names = "--sink",
            paramLabel = "null|stdout|FILE",
            description = "where lines go: nowhere, to standard output before the result, or a file that is overwritten "
                    + "(default: null)")
    private String sink;

    @Option(
            names = "--release-early",
            description = "end the sleep when the memory has been read; done_s is then not known")
    private boolean releaseEarly;

    @Option(
            names = "--cold",
            description = "start at once, without having started a few threads before, as a program that does nothing else does")
    private boolean cold;

    @Option(
            names = "--timeout-s",
            defaultValue = "120",
            paramLabel = "S",
            description = "how long to wait for threads to start, and to end after their sleep (default: ${DEFAULT-VALUE})")
    private double timeoutS;

    @Override
    protected SpawnPlan asked() {
        Choice.parse("--kind", kind, List.of("virtual", "platform"), List.of());
        Numbers.whole("--count", count, 1, MAX_COUNT);
        Choice work = Choice.parse("--task", task, List.of("print"), List.of("sleep:SECONDS", "burn:ROUNDS"));
        Double sleepS = null;
        Long rounds = null;
        if (work.word().equals("sleep")) {
            sleepS = Numbers.positive("--task sleep", work.argument(), MAX_SLEEP_S);
        } else if (work.word().equals("burn")) {
            rounds = Numbers.whole("--task burn", work.argument(), 1, MAX_ROUNDS);
        }
        if (sink != null && !work.word().equals("print")) {
            throw new IllegalArgumentException("--sink is for --task print");
        }
        String where = sink == null || sink.equals("null") ? null : sink;
        Path file = where == null || where.equals(SpawnPlan.STDOUT) ? null : Path.of(where).toAbsolutePath();
        if (file != null && (Files.isDirectory(file) || !Files.isDirectory(file.getParent()))) {
            throw new IllegalArgumentException("--sink = \"%s\": null, stdout or a file in a folder that is there is needed".formatted(sink));
        }
        if (cold && sleepS != null) {
            throw new IllegalArgumentException("--cold is for --task print and burn: what a thread costs in memory is told after a rehearsal");
        }
        if (releaseEarly && sleepS == null) {
            throw new IllegalArgumentException("--release-early is for --task sleep:SECONDS");
        }
        return new SpawnPlan(
                kind,
                count,
                work.word(),
                sleepS,
                rounds,
                where,
                releaseEarly,
                cold,
                Numbers.positive("--timeout-s", timeoutS, MAX_TIMEOUT_S));
    }

    @Override
    protected Findings run(SpawnPlan asked, Consumer<String> say) throws Exception {
        return new SpawnExperiment(asked, say).run();
    }
}
