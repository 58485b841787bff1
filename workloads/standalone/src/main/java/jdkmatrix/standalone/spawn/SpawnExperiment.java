package jdkmatrix.standalone.spawn;

import java.io.IOException;
import java.time.Instant;
import java.util.function.Consumer;
import jdkmatrix.burn.Calibration;
import jdkmatrix.common.jvm.Carriers;
import jdkmatrix.common.jvm.Jmx;
import jdkmatrix.standalone.process.MemoryUse;
import jdkmatrix.standalone.result.Expected;
import jdkmatrix.standalone.result.Findings;
import jdkmatrix.standalone.result.MeasuredSpan;
import jdkmatrix.standalone.result.Outcome;
import jdkmatrix.standalone.result.Result;
import jdkmatrix.standalone.result.ResultWriter;

/** Starts the threads, reads the memory while they live, and ends all that were started, whatever happens. */
final class SpawnExperiment {
    private static final long KIB = 1024;
    private static final double CALIBRATE_S = 0.5;
    private static final int RESERVE_BYTES = 2 << 20;

    private final SpawnPlan plan;
    private final Consumer<String> say;

    /** Released when the heap is full, so that the threads in it can be ended and reported. */
    private byte[] reserve;

    SpawnExperiment(SpawnPlan plan, Consumer<String> say) {
        this.plan = plan;
        this.say = say;
    }

    Findings run() throws Exception {
        Long stackBytes = threadStackBytes();
        Double roundsPerUs = plan.burnRounds() == null ? null : Calibration.measure(CALIBRATE_S).roundsPerUs();
        Expected expected =
                SpawnExpectation.of(plan, stackBytes, roundsPerUs, Runtime.getRuntime().availableProcessors());
        return Findings.of(expected, () -> spawn(expected, stackBytes, roundsPerUs));
    }

    private Findings spawn(Expected expected, Long stackBytes, Double roundsPerUs)
            throws IOException, InterruptedException {
        try (Tasks tasks = Tasks.of(plan)) {
            Outcome rehearsed = plan.cold() ? Outcome.complete() : rehearse();
            if (!rehearsed.isComplete()) {
                return Findings.none(rehearsed, expected);
            }
            if (!plan.cold()) {
                rehearseWriting(expected);
            }
            reserve = new byte[RESERVE_BYTES];
            MemoryUse before = plan.cold() ? MemoryUse.now() : settled();
            Crowd crowd = new Crowd(plan.count(), tasks.task(), plan.sleeps());
            say.accept("starting %,d %s threads".formatted(plan.count(), plan.kind()));
            Throwable refused = crowd.start(plan.threads());
            Observed observed = null;
            long observedNs;
            try {
                if (heapFull(refused)) {
                    crowd.startNoMore();
                }
                if (refused != null) {
                    reserve = null;
                }
                if (!heapFull(refused)) {
                    observed = observe(crowd, outcome(refused, crowd.started()));
                }
                observedNs = System.nanoTime();
            } finally {
                // Waking a thread takes memory: in a full heap it takes for ever. The threads end with the process.
                if (!heapFull(refused)) {
                    end(crowd);
                }
            }
            if (observed == null) {
                // The heap was full: anything read before the end would have failed, too.
                observed = new Observed(outcome(refused, crowd.started()), null, null, null, MemoryUse.Peak.now());
            }
            MeasuredSpan span = new MeasuredSpan(crowd.startNs(), observedNs);
            MemoryUse live = observed.live();
            return new Findings(
                    observed.outcome(),
                    expected,
                    new SpawnSeen(
                            crowd.started(),
                            crowd.startedS(),
                            observed.runningS(),
                            observed.doneS(),
                            live == null ? null : crowd.started(),
                            before,
                            live,
                            live == null ? null : live.perThread(before, crowd.started()),
                            observed.peak().atLeast(live),
                            stackBytes,
                            roundsPerUs),
                    span);
        }
    }

    /** Waits for the threads, reads the memory while they live, and lets them go. */
    private Observed observe(Crowd crowd, Outcome started) throws IOException, InterruptedException {
        Outcome outcome = started;
        if (!crowd.awaitRunning(deadlineNs(plan.timeoutS()))) {
            outcome = worse(outcome, Outcome.timedOut("not all threads ran in time", crowd.started()));
        }
        if (crowd.lost() > 0) {
            outcome = worse(outcome, lost(crowd));
        }
        Double runningS = crowd.runningS();
        MemoryUse live = plan.sleeps() && runningS != null ? MemoryUse.whenStill() : null;
        if (plan.releaseEarly()) {
            return new Observed(outcome, runningS, live, null, MemoryUse.Peak.now());
        }
        crowd.letGo();
        double sleepS = plan.sleeps() ? plan.sleepS() : 0;
        if (!crowd.awaitDone(deadlineNs(sleepS + plan.timeoutS()))) {
            outcome = worse(outcome, Outcome.timedOut("not all tasks were over in time", crowd.started()));
        }
        return new Observed(outcome, runningS, live, crowd.doneS(), MemoryUse.Peak.now());
    }

    private record Observed(Outcome outcome, Double runningS, MemoryUse live, Double doneS, MemoryUse.Peak peak) {}

    private static boolean heapFull(Throwable refused) {
        return refused != null && !Outcome.isOfThreads(refused);
    }

    /** @param refused what stopped the start; null: nothing */
    private static Outcome outcome(Throwable refused, long started) {
        if (refused == null) {
            return Outcome.complete();
        }
        // Otherwise the scheduler's own queue could not grow.
        return refused instanceof OutOfMemoryError error
                ? Outcome.of(error, started)
                : new Outcome(Outcome.Kind.OUT_OF_MEMORY, String.valueOf(refused.getMessage()), started, "a larger -Xmx");
    }

    private void end(Crowd crowd) throws InterruptedException {
        int alive = crowd.end(deadlineNs(plan.timeoutS()));
        if (alive > 0) {
            say.accept("%,d threads did not end in time".formatted(alive));
        }
    }

    private static Outcome lost(Crowd crowd) {
        return new Outcome(
                Outcome.Kind.OUT_OF_MEMORY,
                "the heap was full: %,d threads ended early".formatted(crowd.lost()),
                (long) crowd.started(),
                "a larger -Xmx");
    }

    /** Returns the first cause, which is the one that counts. */
    private static Outcome worse(Outcome found, Outcome later) {
        return found.isComplete() ? later : found;
    }

    /**
     * Loads what threads of this kind need, carriers and timers included, so that it is in no figure of a thread, and
     * nothing is left to load when the heap is full. Starts few platform threads, since the C library keeps the stacks
     * of some that ended, and gives them to the next.
     */
    private Outcome rehearse() throws InterruptedException {
        Crowd crowd = new Crowd(
                plan.virtual() ? 2 * Carriers.parallelism() : 1,
                () -> {
                    try {
                        Thread.sleep(1);
                    } catch (InterruptedException early) {
                        Thread.currentThread().interrupt();
                    }
                },
                true);
        Throwable refused = crowd.start(plan.threads());
        crowd.awaitDone(deadlineNs(plan.timeoutS()));
        end(crowd);
        return outcome(refused, crowd.started());
    }

    /** Writes a result of a full heap to nowhere, so that nothing of the writer is left to load when it is full. */
    private void rehearseWriting(Expected expected) throws IOException {
        Outcome full = Outcome.of(new OutOfMemoryError("rehearsal"), 0L);
        SpawnSeen seen = new SpawnSeen(
                0, 0, null, null, null, MemoryUse.now(), null, null, MemoryUse.Peak.now(), null, null);
        Findings findings = new Findings(full, expected, seen, new MeasuredSpan(0, 0));
        ResultWriter.write(Result.of("spawn", Instant.now(), plan, findings));
    }

    private static MemoryUse settled() throws IOException, InterruptedException {
        MemoryUse.now();
        System.gc();
        return MemoryUse.whenStill();
    }

    private static Long threadStackBytes() {
        String kib = Jmx.vmOption("ThreadStackSize");
        return kib == null ? null : Long.parseLong(kib) * KIB;
    }

    private static long deadlineNs(double seconds) {
        return System.nanoTime() + Math.round(seconds * 1e9);
    }
}
