package jdkmatrix.loadgen;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.DefaultEventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/** What a phase leaves to the next one, on a loop that none of the connections falls to. */
class WorkerTest {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

    private static final class CountingLoop extends DefaultEventLoop {
        private final LongAdder checks = new LongAdder();

        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            if (unit.toNanos(delay) == Limits.TIMEOUT_TICK_MAX_NS) {
                checks.increment();
            }
            return super.schedule(task, delay, unit);
        }
    }

    @Test
    void timeoutsAreLookedForOnceATickHoweverManyPhasesThereWere() throws InterruptedException {
        CountingLoop loop = new CountingLoop();
        try {
            Limits limits = Limits.of(10_000, 0);
            Worker worker = new Worker(1, 2, loop, Target.parse("http://127.0.0.1:9/"), new Bootstrap(), limits);
            for (int phase = 0; phase < 20; phase++) {
                play(worker, 1);
            }
            long before = loop.checks.sum();
            play(worker, 1_000);
            assertTrue(loop.checks.sum() - before <= 11, () -> loop.checks.sum() - before + " checks in a second");
        } finally {
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).await();
        }
    }

    private static void play(Worker worker, long durationMs) throws InterruptedException {
        Load load = new Load.Saturate(1);
        worker.loop().execute(() -> worker.prepare(load.connections()));
        assertInstanceOf(Worker.Report.Prepared.class, worker.awaitReport(PATIENCE_NS));
        long durationNs = TimeUnit.MILLISECONDS.toNanos(durationMs);
        worker.loop().execute(() -> worker.begin(new Phase("play", load, 0, durationNs, durationNs), System.nanoTime()));
        assertInstanceOf(Worker.Report.Counted.class, worker.awaitReport(PATIENCE_NS));
        assertInstanceOf(Worker.Report.Counted.class, worker.awaitReport(PATIENCE_NS));
    }
}
