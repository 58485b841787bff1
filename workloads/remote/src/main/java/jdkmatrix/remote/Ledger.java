package jdkmatrix.remote;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Counts what happens, in periods. For any thread: those that note something wait for each other only, and never for
 * one that reads, since a reader takes what was noted away and sums it up on its own.
 *
 * <p>Lateness is the time from when an answer was due until it had been written to the socket (or the connection
 * closed, as ordered), in nanoseconds: as many values as there were answers, status 500 included, and closed
 * connections. It counts in the period in which that was done.
 *
 * <p>A loop that is held up also receives requests too late, and their delays begin too late: no lateness shows that. So
 * each loop has a timer of its own besides, and how late that one was is kept apart: about as long as a request may
 * have waited to be received.
 */
final class Ledger {
    /** As the load driver has it, so that histograms of both can be merged. */
    private static final long HIGHEST_NS = TimeUnit.HOURS.toNanos(2);
    private static final int SIGNIFICANT_DIGITS = 3;

    private final OperatingSystemMXBean os = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    // Under this object's lock.
    private Histogram noted = newHistogram();
    private Histogram notedOfLoops = newHistogram();
    private final Map<Fault, Long> done = new EnumMap<>(Fault.class);
    private long abandoned;
    private long refused;
    private long inFlight;
    private long inFlightPeak;

    // Under the lock `reading`, which is taken before the other.
    private final Object reading = new Object();
    private Histogram spare = newHistogram();
    private Histogram spareOfLoops = newHistogram();
    private final Histogram lateness = newHistogram();
    private final Histogram latenessOfLoops = newHistogram();
    private long sinceNs = System.nanoTime();
    private long sinceCpuNs = os.getProcessCpuTime();

    Ledger() {
        clear();
    }

    /** A request was received completely. That it will never be answered counts from now on. */
    synchronized void received(Fault fault) {
        inFlight++;
        inFlightPeak = Math.max(inFlightPeak, inFlight);
        if (fault == Fault.NEVER) {
            done.merge(fault, 1L, Long::sum);
        }
    }

    /**
     * A request is about to be answered, or its connection closed. Before {@link #done}, because the request that was
     * pipelined behind it is received in between.
     */
    synchronized void due() {
        inFlight--;
    }

    /** A request was answered, or its connection closed. */
    synchronized void done(Fault fault, long latenessNs) {
        done.merge(fault, 1L, Long::sum);
        noted.recordValue(Math.clamp(latenessNs, 0, HIGHEST_NS));
    }

    /** A client closed its connection before its answer. */
    synchronized void abandoned() {
        inFlight--;
        abandoned++;
    }

    /** A request was bad and got status 400. */
    synchronized void refused() {
        refused++;
    }

    /** An event loop's own timer ran. */
    synchronized void loopRan(long latenessNs) {
        notedOfLoops.recordValue(Math.clamp(latenessNs, 0, HIGHEST_NS));
    }

    /** The figures of this period; {@code reset}: which ends now. Takes milliseconds: not for an event loop. */
    Stats read(boolean reset) {
        synchronized (reading) {
            Histogram taken;
            Histogram takenOfLoops;
            Map<Fault, Long> counts;
            long abandonedNow;
            long refusedNow;
            long inFlightNow;
            long peak;
            long nowNs;
            synchronized (this) {
                taken = noted;
                noted = spare;
                takenOfLoops = notedOfLoops;
                notedOfLoops = spareOfLoops;
                counts = new EnumMap<>(done);
                abandonedNow = abandoned;
                refusedNow = refused;
                inFlightNow = inFlight;
                peak = inFlightPeak;
                nowNs = System.nanoTime();
                if (reset) {
                    clear();
                }
            }
            long nowCpuNs = os.getProcessCpuTime();
            spare = moved(taken, lateness);
            spareOfLoops = moved(takenOfLoops, latenessOfLoops);
            Stats stats = new Stats(
                    counts.remove(Fault.NONE),
                    inFlightNow,
                    peak,
                    abandonedNow,
                    refusedNow,
                    counts,
                    (nowCpuNs - sinceCpuNs) / 1e9,
                    sinceNs,
                    nowNs,
                    Lateness.of(lateness),
                    Lateness.of(latenessOfLoops));
            if (reset) {
                lateness.reset();
                latenessOfLoops.reset();
                sinceNs = nowNs;
                sinceCpuNs = nowCpuNs;
            }
            return stats;
        }
    }

    private static Histogram moved(Histogram from, Histogram to) {
        to.add(from);
        from.reset();
        return from;
    }

    private void clear() {
        for (Fault fault : Fault.values()) {
            done.put(fault, 0L);
        }
        abandoned = 0;
        refused = 0;
        inFlightPeak = inFlight;
    }

    private static Histogram newHistogram() {
        return new Histogram(1, HIGHEST_NS, SIGNIFICANT_DIGITS);
    }
}
