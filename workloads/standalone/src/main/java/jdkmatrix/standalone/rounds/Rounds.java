package jdkmatrix.standalone.rounds;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
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

/** Hands the tasks of a round to the executor, waits until all have ended, and begins again until the time is over. */
final class Rounds {
    /** For tasks that are at work when the time is over. */
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

    private final RoundsPlan plan;
    private final Operation operation;

    Rounds(RoundsPlan plan, Operation operation) {
        this.plan = plan;
        this.operation = operation;
    }

    Findings measure(Expected expected, Consumer<String> say) throws Exception {
        ExecutorService executor = Workers.of(ExecutorKind.parse(plan.executor())).executor();
        try {
            say.accept("warming up for %s s".formatted(plan.warmupS()));
            Tally warmup = new Tally();
            repeat(executor, warmup, plan.warmupS());
            if (warmup.stuck() > 0) {
                return Findings.none(outcome(warmup), expected);
            }
            say.accept("measuring for %s s".formatted(plan.durationS()));
            Tally tally = new Tally();
            Long allocatedFrom = Allocation.bytes();
            long cpuFromNs = Cpu.processNs();
            long startNs = System.nanoTime();
            long rounds = repeat(executor, tally, plan.durationS());
            long endNs = tally.stuck() == 0 ? System.nanoTime() : startNs + Math.round(plan.durationS() * 1e9);
            double cpuS = (Cpu.processNs() - cpuFromNs) / 1e9;
            Long allocatedTo = Allocation.bytes();
            Long allocated = allocatedFrom == null || allocatedTo == null ? null : allocatedTo - allocatedFrom;
            long done = tally.operations();
            double durationS = (endNs - startNs) / 1e9;
            RoundsSeen seen = new RoundsSeen(
                    rounds,
                    tally.stuck(),
                    done,
                    durationS,
                    done / durationS,
                    cpuS,
                    done == 0 ? null : cpuS * 1e6 / done,
                    done == 0 || allocated == null ? null : (double) allocated / done,
                    Distribution.of(tally.waits()),
                    Carriers.parallelism(),
                    operation.about());
            return new Findings(outcome(tally), expected, seen, new MeasuredSpan(startNs, endNs));
        } finally {
            executor.shutdownNow();
        }
    }

    private Outcome outcome(Tally tally) {
        if (tally.stuck() == 0) {
            return Outcome.complete();
        }
        String text = "%d of %d tasks had not ended %d s after the time was over";
        long patienceS = TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NS);
        return Outcome.hung(text.formatted(tally.stuck(), plan.tasks(), patienceS), tally.operations());
    }

    /** @return rounds, the last one included, whose tasks did nothing more once the time was over */
    private long repeat(ExecutorService executor, Tally tally, double seconds) throws Exception {
        long endNs = System.nanoTime() + Math.round(seconds * 1e9);
        Thread clock = Thread.ofPlatform().daemon().name("clock").start(() -> {
            try {
                TimeUnit.NANOSECONDS.sleep(endNs - System.nanoTime());
            } catch (InterruptedException early) {
                Thread.currentThread().interrupt();
            }
            tally.end();
        });
        long rounds = 0;
        while (!tally.isOver()) {
            round(executor, tally, endNs + PATIENCE_NS);
            rounds++;
        }
        clock.interrupt();
        tally.rethrow();
        return rounds;
    }

    private void round(ExecutorService executor, Tally tally, long giveUpNs) throws InterruptedException {
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
        }
    }
}
