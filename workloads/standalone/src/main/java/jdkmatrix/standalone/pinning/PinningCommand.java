package jdkmatrix.standalone.pinning;

import java.util.function.Consumer;
import jdkmatrix.common.command.Numbers;
import jdkmatrix.standalone.command.ExperimentCommand;
import jdkmatrix.standalone.result.Findings;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code pinning}. */
@Command(
        name = "pinning",
        description = "Lets threads block inside a construct, each with a monitor or lock of its own, or beside threads that "
                + "wait for one, again and again, and tells whether a blocked virtual thread keeps its carrier. Carriers: "
                + "-Djdk.virtualThreadScheduler.parallelism=C.",
        mixinStandardHelpOptions = true)
public final class PinningCommand extends ExperimentCommand<PinningPlan> {
    private static final int MAX_THREADS = 1_000_000;
    private static final int MAX_KERNEL_THREADS = 100_000;
    private static final int MAX_BLOCK_MS = 600_000;
    private static final double MAX_S = 86_400;

    @Option(
            names = "--construct",
            required = true,
            paramLabel = "NAME",
            description = "synchronized, lock (a ReentrantLock), object-wait, class-init (a static initialiser), native (a call "
                    + "from native code, JDK 22 and later); contended-monitor, contended-lock: outside, while as many more threads "
                    + "as there are carriers wait to enter one that is held")
    private String construct;

    @Option(names = "--threads", paramLabel = "N", description = "virtual threads")
    private Integer threads;

    @Option(names = "--kernel-threads", paramLabel = "K", description = "platform threads instead")
    private Integer kernelThreads;

    @Option(names = "--block-ms", required = true, paramLabel = "MS", description = "of each blocking call")
    private int blockMs;

    @Option(names = "--duration-s", defaultValue = "10", paramLabel = "S", description = "measured (default: ${DEFAULT-VALUE})")
    private double durationS;

    @Option(
            names = "--warmup-s",
            defaultValue = "2",
            paramLabel = "S",
            description = "the same before, not measured (default: ${DEFAULT-VALUE})")
    private double warmupS;

    @Override
    protected PinningPlan asked() {
        if ((threads == null) == (kernelThreads == null)) {
            throw new IllegalArgumentException("one of --threads and --kernel-threads is needed");
        }
        if (threads != null) {
            Numbers.whole("--threads", threads, 1, MAX_THREADS);
        } else {
            Numbers.whole("--kernel-threads", kernelThreads, 1, MAX_KERNEL_THREADS);
        }
        return new PinningPlan(
                Construct.parse(construct).word(),
                threads,
                kernelThreads,
                (int) Numbers.whole("--block-ms", blockMs, 1, MAX_BLOCK_MS),
                Numbers.positive("--duration-s", durationS, MAX_S),
                Numbers.zeroOrMore("--warmup-s", warmupS, MAX_S));
    }

    @Override
    protected Findings run(PinningPlan asked, Consumer<String> say) throws Exception {
        return new PinningExperiment(asked, say).run();
    }
}
