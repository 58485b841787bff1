package jdkmatrix.serverprobes;

import java.util.concurrent.atomic.AtomicInteger;

/** Requests that are being served now, the most at once since the peak was last taken, and whose threads they began on. */
public final class InFlight {
    /** Those of the application, which its resources count themselves; requests to the probes are none. */
    public static final InFlight REQUESTS = new InFlight();

    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();
    private final Served served = new Served();

    /** Called by the request itself, on the thread that runs it. */
    public void enter() {
        served.count(Thread.currentThread());
        int count = now.incrementAndGet();
        int highest = peak.get();
        while (count > highest && !peak.compareAndSet(highest, count)) {
            highest = peak.get();
        }
    }

    public void leave() {
        now.decrementAndGet();
    }

    Served served() {
        return served;
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
