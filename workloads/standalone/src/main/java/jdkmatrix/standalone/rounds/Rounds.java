package jdkmatrix.standalone.rounds;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import jdkmatrix.common.histogram.Distribution;
import jdkmatrix.common.jvm.Allocation;
import jdkmatrix.common.jvm.Carriers;
import jdkmatrix.common.process.Cpu;
import jdkmatrix.standalone.burn.ExecutorKind;
import jdkmatrix.standalone.burn.Workers;
import jdkmatrix.standalone.result.Expected;
import jdkmatrix.standalone.result.Findings;
import jdkmatrix.standalone.result.MeasuredSpan;
import jdkmatrix.standalone.result.Outcome;

/**
 * Hands the tasks of a round to the executor, waits until all have ended, and begins again until the time is over.
 * Rounds do not restart when the warm-up is over: what a crowd of threads does while it forms is no figure.
 */
final class Rounds {
    /** The wait for tasks that are still at work when the time is over. */
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

    private final RoundsPlan plan;
    private final Operation operation;

    Rounds(RoundsPlan plan, Operation operation) {
        this.plan = plan;
        this.operation = operation;
    }

    /**
     * The work done and the resources used up to a moment.
     *
     * @param allocatedBytes null where the JVM does not count
     */
    private record Moment(long ns, long rounds, long operations, long cpuNs, Long allocatedBytes) {
        static Moment of(Tally tally) {
            Long allocatedBytes = Allocation.bytes();
            return new Moment(System.nanoTime(), tally.rounds(), tally.operations(), Cpu.processNs(), allocatedBytes);
        }
    }

    Findings measure(Expected expected, Consumer<String> say) throws Exception {
        ExecutorService executor = Workers.of(ExecutorKind.parse(plan.executor())).executor();
        try {
            Tally tally = new Tally();
            Moment.of(tally); // loads the classes now: with the CPUs busy, that would take a part of the time
            AtomicReference<Moment> from = new AtomicReference<>();
            AtomicReference<Moment> to = new AtomicReference<>();
            long startNs = System.nanoTime() + Math.round(plan.warmupS() * 1e9);
            long endNs = startNs + Math.round(plan.durationS() * 1e9);
            say.accept("warming up for %s s".formatted(plan.warmupS()));
            Thread clock = Thread.ofPlatform().daemon().name("clock").start(() -> {
                try {
                    TimeUnit.NANOSECONDS.sleep(startNs - System.nanoTime());
                    say.accept("measuring for %s s".formatted(plan.durationS()));
                    from.set(Moment.of(tally));
                    tally.measuringBegins();
                    TimeUnit.NANOSECONDS.sleep(endNs - System.nanoTime());
                    to.set(Moment.of(tally));
                } catch (InterruptedException failed) {
                    Thread.currentThread().interrupt();
                } finally {
                    tally.end();
                }
            });
            while (!tally.isOver()) {
                round(executor, tally, endNs + PATIENCE_NS);
            }
            if (tally.hasFailed()) {
                clock.interrupt();
            }
            clock.join();
            tally.rethrow();
            return found(from.get(), to.get(), tally, expected);
        } finally {
            executor.shutdownNow();
        }
    }

    private Findings found(Moment from, Moment to, Tally tally, Expected expected) {
        double durationS = (to.ns - from.ns) / 1e9;
        double cpuS = (to.cpuNs - from.cpuNs) / 1e9;
        long done = to.operations - from.operations;
        Long allocated = from.allocatedBytes == null || to.allocatedBytes == null
                ? null
                : Long.valueOf(to.allocatedBytes - from.allocatedBytes);
        RoundsSeen seen = new RoundsSeen(
                to.rounds - from.rounds + 1,
                tally.stuck(),
                done,
                durationS,
                done / durationS,
                cpuS,
                done == 0 ? null : cpuS * 1e6 / done,
                done == 0 || allocated == null ? null : (double) allocated / done,
                Distribution.of(tally.waits()),
                tally.lowerBounds(),
                Carriers.parallelism(),
                operation.about());
        return new Findings(outcome(tally), expected, seen, new MeasuredSpan(from.ns, to.ns));
    }

    private Outcome outcome(Tally tally) {
        if (tally.stuck() == 0) {
            return Outcome.complete();
        }
        String text = "%d of %d tasks had not ended %d s after the time was over";
        long patienceS = TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NS);
        return new Outcome(Outcome.Kind.HUNG, text.formatted(tally.stuck(), plan.tasks(), patienceS), null, null);
    }

    private void round(ExecutorService executor, Tally tally, long giveUpNs) throws InterruptedException {
        tally.roundBegins();
        CountDownLatch left = new CountDownLatch(plan.tasks());
        Runnable task = () -> {
            try {
                if (!tally.isOver()) {
                    operation.perform(tally);
                }
            } catch (Exception | Error why) {
                tally.failed(why);
            } finally {
                left.countDown();
            }
        };
        for (int i = 0; i < plan.tasks(); i++) {
            executor.execute(task);
        }
        if (!left.await(giveUpNs - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            tally.stuck(left.getCount());
        } else if (operation.isOneTask()) {
            tally.done(plan.tasks());
        }
    }
}
