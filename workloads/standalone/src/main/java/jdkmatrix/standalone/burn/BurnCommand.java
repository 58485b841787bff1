package jdkmatrix.standalone.burn;

import java.util.function.Consumer;
import jdkmatrix.common.command.Numbers;
import jdkmatrix.standalone.command.ExperimentCommand;
import jdkmatrix.standalone.result.Findings;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code burn}. */
@Command(
        name = "burn",
        description = "Submits tasks of a fixed amount of work to an executor, at a constant rate or a fixed number of them in "
                + "flight, and tells throughput, CPU, latency, and for how long its threads were parked while tasks were queued.",
        mixinStandardHelpOptions = true)
public final class BurnCommand extends ExperimentCommand<BurnPlan> {
    private static final long MAX_ROUNDS = 100_000_000_000L;
    private static final double MAX_BURN_US = 1e7;
    private static final double MAX_RPS = 1e7;
    private static final int MAX_IN_FLIGHT = 1_000_000;
    private static final double MAX_S = 86_400;

    @Option(
            names = "--executor",
            required = true,
            paramLabel = "KIND",
            description = "virtual, platform (a thread for each task), cached, fixed:N, fjp-fifo:N (a ForkJoinPool as the one "
                    + "that carries virtual threads), fjp-lifo:N, work-stealing:N, virtual-bounded:N")
    private String executor;

    @ArgGroup(multiplicity = "1")
    private Work work;

    @ArgGroup(multiplicity = "1")
    private Pace pace;

    @Option(names = "--duration-s", defaultValue = "10", paramLabel = "S", description = "measured (default: ${DEFAULT-VALUE})")
    private double durationS;

    @Option(
            names = "--warmup-s",
            defaultValue = "5",
            paramLabel = "S",
            description = "the same load before, not measured (default: ${DEFAULT-VALUE})")
    private double warmupS;

    @Option(
            names = "--drain-s",
            defaultValue = "10",
            paramLabel = "S",
            description = "how long to wait for what is unfinished at the end (default: ${DEFAULT-VALUE})")
    private double drainS;

    @Option(
            names = "--rounds-per-us",
            paramLabel = "N",
            description = "as calibrated before; without it, a calibration of --calibrate-s comes first")
    private Double roundsPerUs;

    @Option(names = "--calibrate-s", defaultValue = "1", paramLabel = "S", description = "default: ${DEFAULT-VALUE}")
    private double calibrateS;

    @Option(
            names = "--parks",
            defaultValue = "on",
            paramLabel = "on|off",
            description = "look at parks with JDK Flight Recorder; run with both to see what looking costs "
                    + "(default: ${DEFAULT-VALUE})")
    private String parks;

    private static final class Work {
        @Option(names = "--burn-rounds", required = true, paramLabel = "N", description = "work of a task, in rounds")
        private Long rounds;

        @Option(
                names = "--burn-us",
                required = true,
                paramLabel = "US",
                description = "work of a task, in microseconds when alone")
        private Double us;
    }

    private static final class Pace {
        @Option(names = "--rate-rps", required = true, paramLabel = "N", description = "tasks per second, open loop")
        private Double rateRps;

        @Option(names = "--in-flight", required = true, paramLabel = "N", description = "tasks at once, closed loop")
        private Integer inFlight;
    }

    @Override
    protected BurnPlan asked() {
        ExecutorKind.parse(executor);
        if (work.rounds != null) {
            Numbers.whole("--burn-rounds", work.rounds, 1, MAX_ROUNDS);
        } else {
            Numbers.positive("--burn-us", work.us, MAX_BURN_US);
        }
        if (pace.rateRps != null) {
            Numbers.positive("--rate-rps", pace.rateRps, MAX_RPS);
        } else {
            Numbers.whole("--in-flight", pace.inFlight, 1, MAX_IN_FLIGHT);
        }
        if (roundsPerUs != null) {
            Numbers.positive("--rounds-per-us", roundsPerUs, 1e6);
        }
        if (!parks.equals("on") && !parks.equals("off")) {
            throw new IllegalArgumentException("--parks = \"%s\": on or off is needed".formatted(parks));
        }
        return new BurnPlan(
                executor,
                work.rounds,
                work.us,
                roundsPerUs,
                Numbers.positive("--calibrate-s", calibrateS, MAX_S),
                pace.rateRps,
                pace.inFlight,
                Numbers.positive("--duration-s", durationS, MAX_S),
                Numbers.zeroOrMore("--warmup-s", warmupS, MAX_S),
                Numbers.zeroOrMore("--drain-s", drainS, MAX_S),
                parks.equals("on"));
    }

    @Override
    protected Findings run(BurnPlan asked, Consumer<String> say) throws Exception {
        return new BurnExperiment(asked, say).run();
    }
}
