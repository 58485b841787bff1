package jdkmatrix.standalone.spawn;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAccumulator;

/**
 * Threads that all do the same. Threads that sleep stay until they are let go, so that all of them are alive when their
 * memory is read.
 */
final class Crowd {
    private static final long POLL_MS = 1;

    private final Thread[] threads;
    private final Runnable task;
    private final boolean stay;
    private final CountDownLatch letGo = new CountDownLatch(1);
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();
    private final LongAccumulator lastRunningNs = new LongAccumulator(Math::max, Long.MIN_VALUE);
    private final LongAccumulator lastDoneNs = new LongAccumulator(Math::max, Long.MIN_VALUE);
    private volatile boolean ending;
    private int started;
    private long startNs;
    private long startedNs;

    /** @param stay whether threads wait for {@link #letGo} after their task */
    Crowd(int count, Runnable task, boolean stay) {
        this.threads = new Thread[count];
        this.task = task;
        this.stay = stay;
    }

    /**
     * Starts all of them, or as many as possible.
     *
     * @return what stopped it; null: nothing
     */
    Throwable start(Thread.Builder builder) {
        startNs = System.nanoTime();
        try {
            while (started < threads.length) {
                Thread thread = builder.unstarted(this::live);
                thread.start();
                threads[started++] = thread;
            }
            return null;
        } catch (OutOfMemoryError | RejectedExecutionException refused) {
            return refused;
        } finally {
            startedNs = System.nanoTime();
        }
    }

    /** Returns when the first was about to be started. */
    long startNs() {
        return startNs;
    }

    int started() {
        return started;
    }

    double startedS() {
        return (startedNs - startNs) / 1e9;
    }

    /** Returns the time until the last thread ran its first instruction; null unless every started one has. */
    Double runningS() {
        return running.get() < started || started == 0 ? null : (lastRunningNs.get() - startNs) / 1e9;
    }

    /** Returns the time until the last thread finished its task; null unless every started one has. */
    Double doneS() {
        return done.get() < started || started == 0 ? null : (lastDoneNs.get() - startNs) / 1e9;
    }

    /** Returns how many threads ended early because the heap was full. */
    int lost() {
        return lost.get();
    }

    /** Waits until all threads run; lost ones are not waited for. */
    boolean awaitRunning(long deadlineNs) throws InterruptedException {
        return await(running, deadlineNs);
    }

    boolean awaitDone(long deadlineNs) throws InterruptedException {
        return await(done, deadlineNs);
    }

    /** Lets threads end that have finished their task. */
    void letGo() {
        letGo.countDown();
    }

    /** Makes threads that have not run yet do nothing, so that they need no memory for it. */
    void startNoMore() {
        ending = true;
    }

    /**
     * Ends every task that can be interrupted and lets all threads go; those that have not run yet do nothing.
     *
     * @return how many threads had not ended by the deadline
     */
    int end(long deadlineNs) throws InterruptedException {
        ending = true;
        letGo();
        each(deadlineNs, thread -> {
            thread.interrupt();
            return true;
        });
        // Look at least once, however late it is.
        return started - each(deadlineNs, thread -> thread.join(
                Duration.ofNanos(Math.max(1, deadlineNs - System.nanoTime()))));
    }

    @FunctionalInterface
    private interface Step {
        boolean take(Thread thread) throws InterruptedException;
    }

    /** @return for how many threads the step returned true */
    private int each(long deadlineNs, Step step) throws InterruptedException {
        int good = 0;
        int next = 0;
        while (next < started) {
            try {
                good += step.take(threads[next]) ? 1 : 0;
                next++;
            } catch (OutOfMemoryError | RejectedExecutionException full) {
                // A step takes some memory: retry until threads that ended have given theirs back.
                if (System.nanoTime() - deadlineNs >= 0) {
                    return good;
                }
                Thread.sleep(POLL_MS);
            }
        }
        return good;
    }

    private void live() {
        if (ending) {
            return;
        }
        try {
            liveThrough();
        } catch (OutOfMemoryError error) {
            lost.incrementAndGet();
        }
    }

    private void liveThrough() {
        lastRunningNs.accumulate(System.nanoTime());
        running.incrementAndGet();
        task.run();
        lastDoneNs.accumulate(System.nanoTime());
        done.incrementAndGet();
        if (stay) {
            try {
                letGo.await();
            } catch (InterruptedException gone) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private boolean await(AtomicInteger count, long deadlineNs) throws InterruptedException {
        while (count.get() + lost.get() < started) {
            if (System.nanoTime() - deadlineNs >= 0) {
                return false;
            }
            Thread.sleep(POLL_MS);
        }
        return true;
    }
}
