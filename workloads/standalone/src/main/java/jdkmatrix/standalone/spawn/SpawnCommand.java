package jdkmatrix.standalone.spawn;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import jdkmatrix.standalone.command.Choice;
import jdkmatrix.standalone.command.ExperimentCommand;
import jdkmatrix.standalone.command.Numbers;
import jdkmatrix.standalone.result.Findings;
import jdkmatrix.standalone.result.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code spawn}. */
@Command(
        name = "spawn",
        description = "Starts many threads at once and tells how long that takes and what they cost in memory. A host that "
                + "refuses threads is a result: how many there were. The stack of a platform thread is the JVM's -Xss.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
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
            paramLabel = "null|FILE",
            description = "where lines go: nowhere, or a file that is overwritten (default: null)")
    private String sink;

    @Option(
            names = "--release-early",
            description = "end the sleep when the memory has been read; done_s is then not known")
    private boolean releaseEarly;

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
        Path file = sink == null || sink.equals("null") ? null : Path.of(sink).toAbsolutePath();
        if (file != null && (Files.isDirectory(file) || !Files.isDirectory(file.getParent()))) {
            throw new IllegalArgumentException("--sink = \"%s\": null or a file in a folder that is there is needed".formatted(sink));
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
                file == null ? null : sink,
                releaseEarly,
                Numbers.positive("--timeout-s", timeoutS, MAX_TIMEOUT_S));
    }

    @Override
    protected Findings run(SpawnPlan asked, Consumer<String> say) throws Exception {
        return new SpawnExperiment(asked, say).run();
    }
}
