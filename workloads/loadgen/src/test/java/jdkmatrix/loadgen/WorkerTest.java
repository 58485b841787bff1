package jdkmatrix.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/** The state that a phase leaves to the next one, on a loop that has none of the connections. */
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
            Worker worker = workerOn(loop);
            for (int phase = 0; phase < 20; phase++) {
                play(worker, 1);
            }
            long before = loop.checks.sum();
            play(worker, 1_000);
            long checks = loop.checks.sum() - before;
            assertTrue(checks >= 1 && checks <= 11, () -> checks + " checks in a second");
        } finally {
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).await();
        }
    }

    /** Refuses to schedule the second interval. */
    private static final class RefusingLoop extends DefaultEventLoop {
        private static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(40);

        private int intervals;

        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            if (delay <= INTERVAL_NS && ++intervals == 2) {
                throw new IllegalStateException("no more timers");
            }
            return super.schedule(task, delay, unit);
        }
    }

    @Test
    void whatGoesWrongInATimedTaskEndsThePhase() throws InterruptedException {
        RefusingLoop loop = new RefusingLoop();
        try {
            Worker worker = workerOn(loop);
            begin(worker, 3 * RefusingLoop.INTERVAL_NS, RefusingLoop.INTERVAL_NS);
            assertInstanceOf(Worker.Report.Counted.class, worker.awaitReport(PATIENCE_NS));
            Worker.Report.Broken broken =
                    assertInstanceOf(Worker.Report.Broken.class, worker.awaitReport(PATIENCE_NS));
            assertEquals("no more timers", broken.cause().getMessage());
        } finally {
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).await();
        }
    }

    private static void play(Worker worker, long durationMs) throws InterruptedException {
        long durationNs = TimeUnit.MILLISECONDS.toNanos(durationMs);
        begin(worker, durationNs, durationNs);
        assertInstanceOf(Worker.Report.Counted.class, worker.awaitReport(PATIENCE_NS));
        assertInstanceOf(Worker.Report.Counted.class, worker.awaitReport(PATIENCE_NS));
    }

    private static Worker workerOn(EventLoop loop) {
        return new Worker(1, 2, loop, Target.parse("http://127.0.0.1:9/"), new Bootstrap(), Limits.of(10_000, 0));
    }

    private static void begin(Worker worker, long durationNs, long intervalNs) throws InterruptedException {
        Load load = new Load.Saturate(1);
        worker.loop().execute(() -> worker.prepare(load.connections()));
        assertInstanceOf(Worker.Report.Prepared.class, worker.awaitReport(PATIENCE_NS));
        worker.loop().execute(() -> worker.begin(new Phase("play", load, 0, durationNs, intervalNs), System.nanoTime()));
    }
}
