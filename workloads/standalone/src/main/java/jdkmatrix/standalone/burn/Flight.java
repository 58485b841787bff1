package jdkmatrix.standalone.burn;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The state that all tasks of a period share. */
final class Flight {
    private final AtomicLong finished = new AtomicLong(); // a LongAdder costs more for a thread that counts once
    private final Semaphore permits;
    private volatile boolean abandoned;

    /** @param most how many tasks may be in flight; null: any number */
    Flight(Integer most) {
        permits = most == null ? null : new Semaphore(most);
    }

    /** Waits until another task may be submitted. */
    boolean awaitRoom(long ns) throws InterruptedException {
        return permits.tryAcquire(ns, TimeUnit.NANOSECONDS);
    }

    void taskFinished() {
        finished.incrementAndGet();
        if (permits != null) {
            permits.release();
        }
    }

    long finished() {
        return finished.get();
    }

    /** Makes tasks that start from now on do nothing. */
    void abandon() {
        abandoned = true;
    }

    boolean isAbandoned() {
        return abandoned;
    }
}
