package jdkmatrix.standalone.spawn;

import java.io.IOException;
import java.util.function.Consumer;
import jdkmatrix.standalone.process.Carriers;
import jdkmatrix.standalone.process.Jmx;
import jdkmatrix.standalone.process.MemoryUse;
import jdkmatrix.standalone.result.Expected;
import jdkmatrix.standalone.result.Findings;
import jdkmatrix.standalone.result.Outcome;

/** Starts the threads, reads the memory while they live, and ends all that were started, whatever came. */
final class SpawnExperiment {
    private static final long KIB = 1024;

    private final SpawnPlan plan;
    private final Consumer<String> say;

    SpawnExperiment(SpawnPlan plan, Consumer<String> say) {
        this.plan = plan;
        this.say = say;
    }

    Findings run() throws IOException, InterruptedException {
        Long stackBytes = threadStackBytes();
        Expected expected = SpawnExpectation.of(plan, stackBytes, Runtime.getRuntime().availableProcessors());
        try (Tasks tasks = Tasks.of(plan)) {
            rehearse();
            MemoryUse before = settled();
            Crowd crowd = new Crowd(plan.count(), tasks.task(), plan.sleeps());
            say.accept("starting %,d %s threads".formatted(plan.count(), plan.kind()));
            Outcome outcome = start(crowd);
            Observed observed = new Observed(outcome, null, null, null);
            try {
                // With a full heap, whatever is looked at next would fail, too.
                if (outcome.kind() != Outcome.Kind.OUT_OF_MEMORY) {
                    observed = observe(crowd, outcome);
                }
            } finally {
                end(crowd);
            }
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
                            MemoryUse.Peak.now(),
                            stackBytes));
        }
    }

    /** Waits for the threads, reads the memory while they live, and lets them go. */
    private Observed observe(Crowd crowd, Outcome started) throws IOException, InterruptedException {
        Outcome outcome = started;
        if (!crowd.awaitRunning(deadlineNs(plan.timeoutS()))) {
            outcome = worse(outcome, Outcome.timedOut("not all threads ran in time", crowd.started()));
        }
        Double runningS = crowd.runningS();
        MemoryUse live = plan.sleeps() && runningS != null ? MemoryUse.now() : null;
        if (plan.releaseEarly()) {
            return new Observed(outcome, runningS, live, null);
        }
        crowd.letGo();
        double sleepS = plan.sleeps() ? plan.sleepS() : 0;
        if (!crowd.awaitDone(deadlineNs(sleepS + plan.timeoutS()))) {
            outcome = worse(outcome, Outcome.timedOut("not all tasks were over in time", crowd.started()));
        }
        return new Observed(outcome, runningS, live, crowd.doneS());
    }

    private record Observed(Outcome outcome, Double runningS, MemoryUse live, Double doneS) {}

    /** An error that stops the start is an outcome; what was started lives on. */
    private Outcome start(Crowd crowd) {
        try {
            crowd.start(plan.threads());
            return Outcome.complete();
        } catch (OutOfMemoryError error) {
            return Outcome.of(error, (long) crowd.started());
        }
    }

    private void end(Crowd crowd) throws InterruptedException {
        crowd.interrupt();
        int alive = crowd.join(deadlineNs(plan.timeoutS()));
        if (alive > 0) {
            say.accept("%,d threads did not end in time".formatted(alive));
        }
    }

    /** The first cause is the one that counts. */
    private static Outcome worse(Outcome found, Outcome later) {
        return found.isComplete() ? later : found;
    }

    /**
     * Loads what threads of this kind need, carriers and timers included, so that it is in no figure of a thread. Few
     * platform threads: the C library keeps the stacks of some that ended, and gives them to the next.
     */
    private void rehearse() throws InterruptedException {
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
        crowd.start(plan.threads());
        crowd.awaitDone(deadlineNs(plan.timeoutS()));
        end(crowd);
    }

    private static MemoryUse settled() throws IOException {
        MemoryUse.now();
        System.gc();
        return MemoryUse.now();
    }

    private static Long threadStackBytes() {
        String kib = Jmx.vmOption("ThreadStackSize");
        return kib == null ? null : Long.parseLong(kib) * KIB;
    }

    private static long deadlineNs(double seconds) {
        return System.nanoTime() + Math.round(seconds * 1e9);
    }
}
