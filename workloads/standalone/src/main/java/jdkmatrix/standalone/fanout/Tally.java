package jdkmatrix.standalone.fanout;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import jdkmatrix.common.histogram.Histograms;
import jdkmatrix.standalone.result.MeasuredSpan;
import org.HdrHistogram.Histogram;

/** Sends requests and counts their outcomes; for any number of threads. */
final class Tally {
    private static final long NEVER = -1;

    private final Get get;
    private final long startNs = System.nanoTime();
    private final Histogram latency = Histograms.createShared();
    private final Histogram sinceStart = Histograms.createShared();
    private final Map<String, LongAdder> errors = new ConcurrentHashMap<>();
    private final AtomicInteger inFlight = new AtomicInteger();
    private final LongAccumulator mostInFlight = new LongAccumulator(Math::max, 0);
    private final LongAccumulator lastNs = new LongAccumulator(Math::max, startNs);
    private final AtomicLong inFlightAtRefusal = new AtomicLong(NEVER);

    Tally(Get get) {
        this.get = get;
    }

    /** Sends one request on the calling thread, and never throws because of it. */
    void send() {
        mostInFlight.accumulate(inFlight.incrementAndGet());
        long fromNs = System.nanoTime();
        String error;
        try {
            error = Failure.of(get.send());
        } catch (IOException | RuntimeException | Error failed) {
            error = Failure.of(failed);
        }
        long nowNs = System.nanoTime();
        int others = inFlight.decrementAndGet();
        lastNs.accumulate(nowNs);
        if (error == null) {
            Histograms.record(latency, nowNs - fromNs);
            Histograms.record(sinceStart, nowNs - startNs);
            return;
        }
        errors.computeIfAbsent(error, word -> new LongAdder()).increment();
        if (error.equals(Failure.FILES)) {
            inFlightAtRefusal.compareAndSet(NEVER, others);
        }
    }

    /** Returns the span from before the first request to the end of the last. */
    MeasuredSpan span() {
        return new MeasuredSpan(startNs, lastNs.get());
    }

    double wallS() {
        return (lastNs.get() - startNs) / 1e9;
    }

    /** Returns the times of requests with a good answer, from the start of each. */
    Histogram latency() {
        return latency;
    }

    /** Returns the times of requests with a good answer, from the start of all. */
    Histogram sinceStart() {
        return sinceStart;
    }

    Map<String, Long> errors() {
        Map<String, Long> counts = new TreeMap<>();
        errors.forEach((word, count) -> counts.put(word, count.sum()));
        return counts;
    }

    long mostInFlight() {
        return mostInFlight.get();
    }

    /** Returns how many other requests were in flight when the first open file was refused; null: none was. */
    Long inFlightAtRefusal() {
        long count = inFlightAtRefusal.get();
        return count == NEVER ? null : count;
    }
}
