package jdkmatrix.standalone.rounds;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import jdkmatrix.common.histogram.Histograms;
import org.HdrHistogram.Histogram;

/** What tasks have done so far. For any thread. */
final class Tally {
    private final AtomicLong operations = new AtomicLong(); // a LongAdder is dearer for a thread that counts once
    private final Queue<AtomicLong> counters = new ConcurrentLinkedQueue<>();
    private volatile Histogram waits = Histograms.createShared();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private volatile boolean measuring;
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
        operations.incrementAndGet();
    }

    /** For a thread that does many: operations that it alone counts. */
    AtomicLong counter() {
        AtomicLong counter = new AtomicLong();
        counters.add(counter);
        return counter;
    }

    /** How long one operation took, or waited for what it needs; when the time is over, no more. */
    void waited(long ns) {
        if (!over) {
            Histograms.record(waits, ns);
        }
    }

    /** The time that is measured begins. Waits that were told before are no more; what is being told may be in either. */
    void measuringBegins() {
        waits = Histograms.createShared();
        measuring = true;
    }

    boolean isMeasuring() {
        return measuring;
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
        return operations.get() + counters.stream().mapToLong(AtomicLong::get).sum();
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
