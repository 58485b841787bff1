package jdkmatrix.remote;

import java.util.EnumMap;
import java.util.Map;
import jdkmatrix.common.histogram.Distribution;
import jdkmatrix.common.histogram.Histograms;
import jdkmatrix.common.process.Cpu;
import org.HdrHistogram.Histogram;

/**
 * Counts what happens, by period. Thread-safe: threads that record something wait only for each other, never for one
 * that reads, since a reader takes away what was recorded and sums it up on its own.
 *
 * <p>Lateness is the time from when an answer was due until it had been written to the socket (or the connection
 * closed, as ordered), in nanoseconds. There is one value for each answer, status 500 included, and for each closed
 * connection. It counts in the period in which that was done.
 *
 * <p>A loop that is held up also receives requests late, so that their delays begin late, and no lateness shows that.
 * Therefore each loop also has a timer of its own, whose lateness is kept separately: it is about as long as a request
 * may have waited to be received.
 */
final class Ledger {
    // Guarded by this object's lock.
    private Histogram noted = Histograms.create();
    private Histogram notedOfLoops = Histograms.create();
    private final Map<Fault, Long> done = new EnumMap<>(Fault.class);
    private long abandoned;
    private long refused;
    private long inFlight;
    private long inFlightPeak;

    // Guarded by the lock `reading`, which is taken before the other one.
    private final Object reading = new Object();
    private Histogram spare = Histograms.create();
    private Histogram spareOfLoops = Histograms.create();
    private final Histogram lateness = Histograms.create();
    private final Histogram latenessOfLoops = Histograms.create();
    private long sinceNs = System.nanoTime();
    private long sinceCpuNs = Cpu.processNs();

    Ledger() {
        clear();
    }

    /** Records that a request was completely received. One that will never be answered already counts as such. */
    synchronized void received(Fault fault) {
        inFlight++;
        inFlightPeak = Math.max(inFlightPeak, inFlight);
        if (fault == Fault.NEVER) {
            done.merge(fault, 1L, Long::sum);
        }
    }

    /**
     * Records that a request is about to be answered, or its connection closed. Called before {@link #done}, because
     * the request that was pipelined behind it is received in between.
     */
    synchronized void due() {
        inFlight--;
    }

    /** Records that a request was answered, or its connection closed. */
    synchronized void done(Fault fault, long latenessNs) {
        done.merge(fault, 1L, Long::sum);
        Histograms.record(noted, latenessNs);
    }

    /** Records that a client closed its connection before its answer. */
    synchronized void abandoned() {
        inFlight--;
        abandoned++;
    }

    /** Records that a request was bad and got status 400. */
    synchronized void refused() {
        refused++;
    }

    /** Records that an event loop's own timer ran. */
    synchronized void loopRan(long latenessNs) {
        Histograms.record(notedOfLoops, latenessNs);
    }

    /** Returns the figures of this period, which {@code reset} ends. Takes milliseconds: not for an event loop. */
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
            long nowCpuNs = Cpu.processNs();
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
                    Distribution.of(lateness),
                    Distribution.of(latenessOfLoops));
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
}
