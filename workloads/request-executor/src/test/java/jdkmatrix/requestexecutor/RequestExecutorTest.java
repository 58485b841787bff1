package jdkmatrix.requestexecutor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestExecutorTest {
    private static final int TASKS = 20;

    @ParameterizedTest
    @CsvSource({
        // kind, virtual, threads for 20 tasks, tasks that run at once, tasks queued meanwhile
        "virtual, true, 20, 20,",
        "virtual-bounded-3, true, 20, 3, 17",
        "virtual-pooled-3, true, 3, 3, 17",
        "platform, false, 20, 20, 0",
        "cached, false, 20, 20, 0",
        "fixed-3, false, 3, 3, 17",
    })
    void runsAndCountsTasks(String kind, boolean virtual, int threads, int atOnce, Integer queued) throws Exception {
        RequestExecutor gauges = RequestExecutor.of(Kind.named(kind));
        CountDownLatch running = new CountDownLatch(atOnce);
        CountDownLatch release = new CountDownLatch(1);
        List<Future<Thread>> tasks = new ArrayList<>();
        try (ExecutorService executor = gauges.executor()) {
            for (int task = 0; task < TASKS; task++) {
                tasks.add(executor.submit(() -> {
                    running.countDown();
                    release.await();
                    return Thread.currentThread();
                }));
            }
            running.await();
            // A thread begins to run, and begins to wait, a moment after it was started.
            for (int tries = 0; !(gauges.getStarted() == threads && Objects.equals(queued, gauges.getQueued())) && tries < 10_000; tries++) {
                Thread.sleep(1);
            }
            assertEquals(kind, gauges.getKind());
            assertEquals(threads, gauges.getPoolSize());
            assertEquals(atOnce, gauges.getActive());
            assertEquals(queued, gauges.getQueued());
            assertEquals(threads, gauges.getStarted());
            release.countDown();
        }
        Set<Thread> used = tasks.stream().map(Future::resultNow).collect(Collectors.toSet());
        assertEquals(threads, used.size());
        for (Thread thread : used) {
            assertEquals(virtual, thread.isVirtual());
            assertTrue(thread.getName().startsWith("jdkmatrix-" + kind), thread.getName());
        }
    }

    @Test
    void threadsThatEndedAreNotAlive() throws Exception {
        RequestExecutor gauges = RequestExecutor.of(Kind.named("virtual"));
        try (ExecutorService executor = gauges.executor()) {
            for (int task = 0; task < TASKS; task++) {
                executor.submit(() -> null).get();
            }
        }
        // The executor is done with a thread a moment before the thread ends.
        for (int tries = 0; gauges.getPoolSize() > 0 && tries < 10_000; tries++) {
            Thread.sleep(1);
        }
        assertEquals(0, gauges.getPoolSize());
        assertEquals(TASKS, gauges.getStarted());
    }

    @Test
    void aServersOwnPoolGetsNamedVirtualThreads() throws InterruptedException {
        RequestExecutor gauges = RequestExecutor.lent("own-virtual");
        Thread thread = gauges.threads().newThread(() -> {});
        thread.start();
        thread.join();
        assertTrue(thread.isVirtual());
        assertEquals("jdkmatrix-own-virtual#1", thread.getName());
        assertNull(gauges.getPoolSize());
        assertEquals(1, gauges.getStarted());
    }
}
