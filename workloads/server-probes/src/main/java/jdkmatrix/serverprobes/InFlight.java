package jdkmatrix.serverprobes;

/** Counts requests in flight, the most at once since the peak was last taken, and whose threads they began on. */
public final class InFlight {
    /** The application's requests, which its resources count themselves; requests to the probes do not count. */
    public static final InFlight REQUESTS = new InFlight();

    private final PeakCount count = new PeakCount();
    private final Served served = new Served();

    /** Counts a request in. Called by the request itself, on the thread that runs it. */
    public void enter() {
        served.count(Thread.currentThread());
        count.up();
    }

    public void leave() {
        count.down();
    }

    Served served() {
        return served;
    }

    int now() {
        return count.now();
    }

    int peak() {
        return count.peak();
    }

    /** Returns the peak until now; the next one starts from what is in flight at this moment. */
    int takePeak() {
        return count.takePeak();
    }
}
