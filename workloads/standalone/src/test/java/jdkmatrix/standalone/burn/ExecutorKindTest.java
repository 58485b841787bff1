package jdkmatrix.standalone.burn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import jdkmatrix.common.jvm.Carriers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExecutorKindTest {
    @ParameterizedTest
    @CsvSource({
        "virtual,VIRTUAL,", "platform,PLATFORM,", "cached,CACHED,", "fixed:3,FIXED,3", "fjp-fifo:1,FJP_FIFO,1",
        "fjp-lifo:2,FJP_LIFO,2", "work-stealing:32767,WORK_STEALING,32767"
    })
    void readsItsName(String text, ExecutorKind.Family family, Integer threads) {
        assertEquals(new ExecutorKind(family, threads), ExecutorKind.parse(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Virtual", "fixed", "fixed:", "fixed:-1", "fixed:32768", "fixed:1:2", "virtual:", "platform:1"})
    void refusesOthers(String text) {
        assertThrows(IllegalArgumentException.class, () -> ExecutorKind.parse(text));
    }

    /** The thread that runs a task is told from all others; for a virtual thread, its carrier is. */
    @ParameterizedTest
    @ValueSource(strings = {"cached", "fixed:2", "fjp-fifo:2", "fjp-lifo:2", "work-stealing:2"})
    void knowsItsThreads(String text) throws ExecutionException, InterruptedException {
        Workers workers = Workers.of(ExecutorKind.parse(text));
        try (ExecutorService executor = workers.executor()) {
            Thread worker = executor.submit(Thread::currentThread).get();
            assertTrue(workers.has(worker.threadId(), null, null));
            assertFalse(workers.has(Thread.currentThread().threadId(), null, null));
            assertTrue(workers.outliveTasks());
        }
    }

    @Test
    void carriersAreToldByTheirGroup() {
        Workers workers = Workers.of(ExecutorKind.parse("virtual"));
        assertTrue(workers.has(1, Carriers.THREAD_GROUP, "ForkJoinPool-1-worker-1"));
        assertFalse(workers.has(1, Carriers.THREAD_GROUP, "ForkJoinPool-1-delayScheduler"));
        assertFalse(workers.has(1, "main", "ForkJoinPool-1-worker-1"));
        assertFalse(workers.has(1, null, null));
        assertEquals(Carriers.parallelism(), workers.atOnce());
        workers.executor().close();
    }

    /** Idle time is a share of the carriers' time, not of that of as many threads as the bound allows. */
    @Test
    void carriersWorkForABoundedNumberOfVirtualThreads() {
        Workers workers = Workers.of(ExecutorKind.parse("virtual-bounded:1000"));
        assertEquals(1000, workers.atOnce());
        assertEquals(Carriers.parallelism(), workers.threads());
        workers.executor().close();
    }

    @Test
    void aThreadForEachTaskOutlivesNone() {
        Workers workers = Workers.of(ExecutorKind.parse("platform"));
        assertFalse(workers.outliveTasks());
        workers.executor().close();
    }
}
