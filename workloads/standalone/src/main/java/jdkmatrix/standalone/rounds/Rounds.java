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
    private final RoundsPlan plan;
    private final Operation operation;

    Rounds(RoundsPlan plan, Operation operation) {
        this.plan = plan;
        this.operation = operation;
    }

    Findings measure(Expected expected, Consumer<String> say) throws Exception {
        try (ExecutorService executor = Workers.of(ExecutorKind.parse(plan.executor())).executor()) {
            say.accept("warming up for %s s".formatted(plan.warmupS()));
            repeat(executor, new Tally(), plan.warmupS());
            say.accept("measuring for %s s".formatted(plan.durationS()));
            Tally tally = new Tally();
            Long allocatedFrom = Allocation.bytes();
            long cpuFromNs = Cpu.processNs();
            long startNs = System.nanoTime();
            long rounds = repeat(executor, tally, plan.durationS());
            long endNs = System.nanoTime();
            double cpuS = (Cpu.processNs() - cpuFromNs) / 1e9;
            Long allocatedTo = Allocation.bytes();
            Long allocated = allocatedFrom == null || allocatedTo == null ? null : allocatedTo - allocatedFrom;
            long done = tally.operations();
            double durationS = (endNs - startNs) / 1e9;
            RoundsSeen seen = new RoundsSeen(
                    rounds,
                    done,
                    durationS,
                    done / durationS,
                    cpuS,
                    done == 0 ? null : cpuS * 1e6 / done,
                    done == 0 || allocated == null ? null : (double) allocated / done,
                    Distribution.of(tally.waits()),
                    Carriers.parallelism(),
                    operation.about());
            return new Findings(Outcome.complete(), expected, seen, new MeasuredSpan(startNs, endNs));
        }
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
            round(executor, tally);
            rounds++;
        }
        clock.interrupt();
        tally.rethrow();
        return rounds;
    }

    private void round(ExecutorService executor, Tally tally) throws InterruptedException {
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
        left.await();
    }
}
