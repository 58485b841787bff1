package jdkmatrix.serverprobes;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts up and down, and keeps the highest count since it was last taken. Thread-safe. */
public final class PeakCount {
    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();

    public void up() {
        raise(now.incrementAndGet());
    }

    public void down() {
        now.decrementAndGet();
    }

    public int now() {
        return now.get();
    }

    public int peak() {
        return peak.get();
    }

    /** Returns the peak until now; the next one starts from the count at this moment. */
    public int takePeak() {
        int until = peak.getAndSet(0);
        raise(now.get()); // after the reset: whoever counts up in between raises the peak itself
        return until;
    }

    private void raise(int count) {
        int highest = peak.get();
        while (count > highest && !peak.compareAndSet(highest, count)) {
            highest = peak.get();
        }
    }
}
