package jdkmatrix.serverprobes;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts requests in flight, the most at once since the peak was last taken, and whose threads they began on. */
public final class InFlight {
    /** The application's requests, which its resources count themselves; requests to the probes do not count. */
    public static final InFlight REQUESTS = new InFlight();

    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();
    private final Served served = new Served();

    /** Counts a request in. Called by the request itself, on the thread that runs it. */
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

    /** Returns the peak until now; the next one starts from what is in flight at this moment. */
    int takePeak() {
        int until = peak.getAndSet(0);
        peak.accumulateAndGet(now.get(), Math::max); // after the reset: who enters in between raises the peak itself
        return until;
    }
}
