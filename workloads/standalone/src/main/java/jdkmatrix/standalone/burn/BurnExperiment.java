package jdkmatrix.standalone.burn;

import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import jdkmatrix.burn.Calibration;
import jdkmatrix.common.process.TimerSlack;
import jdkmatrix.standalone.process.FlightRecording;
import jdkmatrix.standalone.result.Expected;
import jdkmatrix.standalone.result.Findings;
import jdkmatrix.standalone.result.MeasuredSpan;

/** Calibrates, warms up, measures, and looks at the parks. */
final class BurnExperiment {
    private static final long END_S = 10;
    private static final long WAKE_NS = 1_000_000;

    private final BurnPlan plan;
    private final Consumer<String> say;
    private final int cpus = Runtime.getRuntime().availableProcessors();

    BurnExperiment(BurnPlan plan, Consumer<String> say) {
        this.plan = plan;
        this.say = say;
    }

    Findings run() throws Exception {
        BurnSeen.Work work = work();
        Workers workers = Workers.of(ExecutorKind.parse(plan.executor()));
        Expected expected = expected(work.burnUs(), workers.atOnce());
        return Findings.of(expected, () -> burn(work, workers, expected));
    }

    private Findings burn(BurnSeen.Work work, Workers workers, Expected expected) throws IOException, InterruptedException {
        TimerSlack.minimise(say);
        ConstantRate rate = plan.rateRps() == null ? null : new ConstantRate(plan.rateRps());
        Submitter submitter = new Submitter(workers.executor(), rate, plan.inFlight(), work.rounds());
        String withoutProbe = plan.parks() ? FlightRecording.unavailable() : "off";
        try {
            if (withoutProbe != null) {
                ParkReport none = plan.parks() ? ParkReport.unavailable(withoutProbe) : ParkReport.off();
                return measure(submitter, work, workers, expected, null, none);
            }
            try (ParkProbe probe = ParkProbe.start()) {
                return measure(submitter, work, workers, expected, probe, null);
            }
        } finally {
            workers.executor().shutdownNow();
        }
    }

    /** @param none what is reported without a probe */
    private Findings measure(
            Submitter submitter, BurnSeen.Work work, Workers workers, Expected expected, ParkProbe probe, ParkReport none)
            throws IOException, InterruptedException {
        long drainNs = ns(plan.drainS());
        long warmupUnfinished = 0;
        if (plan.warmupS() > 0) {
            say.accept("warming up for %s s".formatted(plan.warmupS()));
            Period warmup = submitter.run(ns(plan.warmupS()), drainNs);
            if (!warmup.outcome().isComplete()) {
                return Findings.none(warmup.outcome(), expected);
            }
            warmupUnfinished = unfinished(warmup.log());
        }
        if (probe != null) {
            probe.restart();
        }
        say.accept("measuring for %s s".formatted(plan.durationS()));
        Period period = submitter.run(ns(plan.durationS()), drainNs);
        end(workers, probe != null && period.outcome().isComplete());
        Steps queued = period.log().queued();
        ParkReport parks = probe == null ? none : parks(probe, workers, queued, period);
        BurnSeen seen = BurnSeen.of(period, work, warmupUnfinished, cpus, workers.atOnce(), queued, parks);
        return new Findings(period.outcome(), expected, seen, new MeasuredSpan(period.startNs(), period.endNs()));
    }

    private BurnSeen.Work work() {
        if (plan.roundsPerUs() != null) {
            return new BurnSeen.Work(plan.rounds(plan.roundsPerUs()), plan.roundsPerUs(), null);
        }
        say.accept("calibrating for %s s".formatted(plan.calibrateS()));
        Calibration calibration = Calibration.measure(plan.calibrateS());
        return new BurnSeen.Work(plan.rounds(calibration.roundsPerUs()), calibration.roundsPerUs(), calibration.spread());
    }

    /** @param atOnce how many tasks the executor runs at once; null: any number */
    private Expected expected(double burnUs, Integer atOnce) {
        double running = cpus;
        String formula = "cpus";
        if (atOnce != null && atOnce < running) {
            running = atOnce;
            formula = "workers";
        }
        if (plan.inFlight() != null && plan.inFlight() < running) {
            running = plan.inFlight();
            formula = "in_flight";
        }
        double perS = running / burnUs * 1e6;
        formula += " / burn_us * 1e6";
        if (plan.rateRps() != null) {
            formula = "min(rate_rps, " + formula + ")";
            perS = Math.min(plan.rateRps(), perS);
        }
        return new Expected(
                "throughput_per_s",
                formula,
                perS,
                "work conservation: no worker is idle while a task waits (an upper bound: submitting costs CPU, too); "
                        + "claims infoq-standalone and infoq-carrier-park say otherwise");
    }

    private static long unfinished(TaskLog log) {
        long unfinished = 0;
        for (int task = 0; task < log.size(); task++) {
            unfinished += log.endedNs(task) == 0 ? 1 : 0;
        }
        return unfinished;
    }

    /** Ends the executor once every worker has had something to do, so that parks still under way are recorded. */
    private void end(Workers workers, boolean wake) throws InterruptedException {
        if (wake && workers.threads() != null) {
            try {
                for (int i = 0; i < 2 * workers.threads(); i++) {
                    workers.executor().execute(BurnExperiment::spin);
                }
            } catch (RejectedExecutionException | OutOfMemoryError refused) {
                say.accept("not every worker could be woken at the end: " + refused.getMessage());
            }
        }
        workers.executor().shutdown();
        if (!workers.executor().awaitTermination(END_S, TimeUnit.SECONDS)) {
            say.accept("the executor did not end within %d s".formatted(END_S));
        }
    }

    private static void spin() {
        long endNs = System.nanoTime() + WAKE_NS;
        while (System.nanoTime() - endNs < 0) {
            Thread.onSpinWait();
        }
    }

    private ParkReport parks(ParkProbe probe, Workers workers, Steps queued, Period period) throws IOException {
        if (!workers.outliveTasks()) {
            return ParkReport.unavailable("the threads of this executor end with their task and never wait for one");
        }
        say.accept("reading the recording");
        try {
            ParkLog log = probe.finish(workers);
            return ParkAnalysis.of(log, queued, period.startNs(), period.endNs(), workers.threads());
        } catch (IllegalArgumentException unmapped) {
            return ParkReport.unavailable(unmapped.getMessage());
        }
    }

    private static long ns(double seconds) {
        return Math.round(seconds * 1e9);
    }
}
