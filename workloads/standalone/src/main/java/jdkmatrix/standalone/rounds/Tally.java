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
    private volatile Histogram waits = Histograms.createShared();
    private final FirstFailure failure = new FirstFailure();
    private volatile boolean measuring;
    private volatile boolean over;
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

    /** Records how long one operation took, or waited for what it needs; ignored once the time is over. */
    void waited(long ns) {
        if (!over) {
            Histograms.record(waits, ns);
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
        over = true;
    }

    boolean hasFailed() {
        return failure.isThere();
    }

    void end() {
        over = true;
    }

    boolean isOver() {
        return over;
    }

    long operations() {
        return operations.get() + counters.stream().mapToLong(AtomicLong::get).sum();
    }

    Histogram waits() {
        return waits;
    }

    void rethrow() throws Exception {
        failure.rethrow();
    }
}
