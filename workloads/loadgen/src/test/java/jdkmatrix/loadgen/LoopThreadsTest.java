package jdkmatrix.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The work of one event loop, which the sum over all does not show. */
class LoopThreadsTest {
    private static final long WORK_NS = TimeUnit.MILLISECONDS.toNanos(200);

    @Test
    void theBusiestIsToldByItself() throws InterruptedException {
        LoopThreads threads = new LoopThreads();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch working = new CountDownLatch(2);
        CountDownLatch read = new CountDownLatch(1); // a thread that has ended has no clock
        for (long workNs : new long[] {WORK_NS, WORK_NS / 10}) {
            threads.newThread(() -> {
                        await(begun);
                        use(workNs);
                        working.countDown();
                        await(read);
                    })
                    .start();
        }
        long[] beforeNs = threads.cpuNs();
        begun.countDown();
        assertTrue(working.await(600, TimeUnit.SECONDS));
        long busiestNs = threads.busiestNs(beforeNs);
        long[] afterNs = threads.cpuNs();
        long idleNs = threads.busiestNs(afterNs);
        read.countDown();

        assertEquals(2, beforeNs.length);
        long sumNs = afterNs[0] - beforeNs[0] + afterNs[1] - beforeNs[1];
        assertTrue(busiestNs >= WORK_NS, () -> busiestNs + " ns of at least " + WORK_NS);
        assertTrue(busiestNs < sumNs, () -> busiestNs + " ns of one thread, " + sumNs + " of both");
        assertTrue(idleNs < WORK_NS / 2, () -> idleNs + " ns of threads that wait");
    }

    private static void use(long cpuNs) {
        ThreadMXBean clocks = ManagementFactory.getThreadMXBean();
        long untilNs = clocks.getCurrentThreadCpuTime() + cpuNs;
        while (clocks.getCurrentThreadCpuTime() < untilNs) {
            Thread.onSpinWait();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
