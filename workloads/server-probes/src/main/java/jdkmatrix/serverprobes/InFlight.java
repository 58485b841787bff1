package jdkmatrix.serverprobes;

import java.util.concurrent.atomic.AtomicInteger;

/** Requests that are being served now, and the most of them at once since the peak was last taken. */
public final class InFlight {
    /** Those of the application, which its resources count themselves; requests to the probes are none. */
    public static final InFlight REQUESTS = new InFlight();

    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();

    public void enter() {
        int count = now.incrementAndGet();
        int highest = peak.get();
        while (count > highest && !peak.compareAndSet(highest, count)) {
            highest = peak.get();
        }
    }

    public void leave() {
        now.decrementAndGet();
    }

    int now() {
        return now.get();
    }

    int peak() {
        return peak.get();
    }

    /** The peak until now; the next one starts from what is in flight at this moment. */
    int takePeak() {
        return peak.getAndSet(now.get());
    }
}
