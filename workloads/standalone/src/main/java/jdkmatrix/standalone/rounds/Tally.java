package jdkmatrix.standalone.rounds;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import jdkmatrix.common.histogram.Histograms;
import jdkmatrix.standalone.result.FirstFailure;
import org.HdrHistogram.Histogram;

/** Counts what tasks have done so far. Thread-safe, except where noted. */
final class Tally {
    private final AtomicLong operations = new AtomicLong(); // a LongAdder costs more for a thread that counts once
    private final Queue<AtomicLong> counters = new ConcurrentLinkedQueue<>();
    private final AtomicLong lowerBounds = new AtomicLong();
    private volatile Histogram waits = Histograms.createShared();
    private final FirstFailure failure = new FirstFailure();
    private volatile boolean measuring;
    private volatile long endedNs;
    private volatile boolean over; // set after `endedNs`
    private volatile long rounds;
    private long stuck;

    /** Only the thread that hands tasks over may call this. */
    void roundBegins() {
        rounds++;
    }

    long rounds() {
        return rounds;
    }

    void done(int more) {
        operations.addAndGet(more);
    }

    /** Returns a counter of operations for a thread that does many and alone counts them. */
    AtomicLong counter() {
        AtomicLong counter = new AtomicLong();
        counters.add(counter);
        return counter;
    }

    /**
     * Records how long one operation took, or waited for what it needs, up to now. One that was under way when the time
     * ended is recorded as what had passed of it, a lower bound; one that began later, not at all.
     */
    void waitedSince(long beganNs) {
        long nowNs = System.nanoTime();
        if (!over) {
            Histograms.record(waits, nowNs - beganNs);
        } else if (endedNs - beganNs > 0) {
            Histograms.record(waits, endedNs - beganNs);
            lowerBounds.incrementAndGet();
        }
    }

    /** Begins the measured time. Waits recorded before are dropped; those being recorded may fall into either. */
    void measuringBegins() {
        waits = Histograms.createShared();
        measuring = true;
    }

    boolean isMeasuring() {
        return measuring && !over;
    }

    /** Records tasks that never ended. Only the thread that waits for them may set and read this. */
    void stuck(long tasks) {
        stuck = tasks;
    }

    long stuck() {
        return stuck;
    }

    /** Ends the time; the first failure counts. */
    void failed(Throwable why) {
        failure.failed(why);
        end();
    }

    boolean hasFailed() {
        return failure.isThere();
    }

    void end() {
        endedNs = System.nanoTime();
        over = true;
    }

    boolean isOver() {
        return over;
    }

    long operations() {
        return operations.get() + counters.stream().mapToLong(AtomicLong::get).sum();
    }

    /** Returns the recorded times, {@link #lowerBounds} of them included. */
    Histogram waits() {
        return waits;
    }

    long lowerBounds() {
        return lowerBounds.get();
    }

    void rethrow() throws Exception {
        failure.rethrow();
    }
}
