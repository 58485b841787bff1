package jdkmatrix.standalone.rounds;

import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import jdkmatrix.common.histogram.Histograms;
import org.HdrHistogram.Histogram;

/** What tasks have done so far. For any thread. */
final class Tally {
    private final LongAdder operations = new LongAdder();
    private volatile Histogram waits = Histograms.createShared();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private volatile boolean over;
    private volatile long rounds;
    private long stuck;

    /** Only who hands tasks over may say so. */
    void roundBegins() {
        rounds++;
    }

    long rounds() {
        return rounds;
    }

    void done() {
        operations.increment();
    }

    void done(long times) {
        operations.add(times);
    }

    /** How long one operation took, or waited for what it needs. */
    void waited(long ns) {
        Histograms.record(waits, ns);
    }

    /** What was told before is no more; what is being told may be in either. */
    void forgetWaits() {
        waits = Histograms.createShared();
    }

    /** Tasks that never ended. Only who waits for them may say and ask. */
    void stuck(long tasks) {
        stuck = tasks;
    }

    long stuck() {
        return stuck;
    }

    /** The first one counts. */
    void failed(Throwable why) {
        failure.compareAndSet(null, why);
        over = true;
    }

    boolean hasFailed() {
        return failure.get() != null;
    }

    void end() {
        over = true;
    }

    boolean isOver() {
        return over;
    }

    long operations() {
        return operations.sum();
    }

    Histogram waits() {
        return waits;
    }

    void rethrow() throws Exception {
        switch (failure.get()) {
            case null -> {}
            case Error error -> throw error;
            case Throwable exception -> throw (Exception) exception;
        }
    }
}
