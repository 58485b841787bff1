package jdkmatrix.standalone.burn;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** What all tasks of a period share. */
final class Flight {
    private final LongAdder finished = new LongAdder();
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
        finished.increment();
        if (permits != null) {
            permits.release();
        }
    }

    long finished() {
        return finished.sum();
    }

    /** Tasks that start from now on do nothing. */
    void abandon() {
        abandoned = true;
    }

    boolean isAbandoned() {
        return abandoned;
    }
}
