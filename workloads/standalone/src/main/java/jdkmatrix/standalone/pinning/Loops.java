package jdkmatrix.standalone.pinning;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import jdkmatrix.common.histogram.Histograms;
import jdkmatrix.standalone.result.FirstFailure;
import org.HdrHistogram.Histogram;

/**
 * Threads that block again and again until a common end. Between two calls a thread yields, like a server that takes
 * the next request: otherwise those that got a carrier first would keep it, and the others would never run.
 */
final class Loops {
    private final long startNs = System.nanoTime();
    private final long fromNs;
    private final long endNs;
    private final Histogram latency = Histograms.createShared();
    private final LongAdder operations = new LongAdder();
    private final LongAdder lowerBounds = new LongAdder();
    private final AtomicInteger served = new AtomicInteger();
    private final List<Thread> threads = new ArrayList<>();
    private final FirstFailure failure = new FirstFailure();
    private volatile boolean stopped;

    /** The measured time begins after {@code warmupNs} and lasts {@code durationNs}. */
    Loops(long warmupNs, long durationNs) {
        fromNs = startNs + warmupNs;
        endNs = fromNs + durationNs;
    }

    /** Starts one thread. */
    void start(Thread.Builder builder, Blocking blocking) {
        Thread thread = builder.unstarted(() -> loopUntilFailed(blocking));
        thread.start();
        threads.add(thread);
    }

    int started() {
        return threads.size();
    }

    long fromNs() {
        return fromNs;
    }

    long endNs() {
        return endNs;
    }

    /** Makes all threads begin no further call. */
    void stop() {
        stopped = true;
    }

    /** @return how many threads had not ended by then */
    int join(long deadlineNs) throws InterruptedException {
        int alive = 0;
        for (Thread thread : threads) {
            // Look at least once, however late it is.
            if (!thread.join(Duration.ofNanos(Math.max(1, deadlineNs - System.nanoTime())))) {
                alive++;
            }
        }
        return alive;
    }

    /** Returns how many calls ended in the measured time. */
    long operations() {
        return operations.sum();
    }

    Histogram latency() {
        return latency;
    }

    long lowerBounds() {
        return lowerBounds.sum();
    }

    int served() {
        return served.get();
    }

    /** Throws the first failure of a call, if one failed: a thread that ended early does less than it was asked for. */
    void rethrow() throws Exception {
        failure.rethrow();
    }

    private void loopUntilFailed(Blocking blocking) {
        try {
            loop(blocking);
        } catch (RuntimeException | Error failed) {
            failure.failed(failed);
            stop();
        }
    }

    private void loop(Blocking blocking) {
        boolean first = true;
        long readyNs = startNs;
        while (!stopped) {
            if (System.nanoTime() >= endNs) {
                lowerBounds.increment();
                Histograms.record(latency, endNs - readyNs);
                return;
            }
            blocking.block();
            long doneNs = System.nanoTime();
            if (first) {
                served.incrementAndGet();
                first = false;
            }
            if (doneNs >= fromNs) {
                Histograms.record(latency, doneNs - readyNs);
            }
            if (doneNs >= endNs) {
                return;
            }
            if (doneNs >= fromNs) {
                operations.increment();
            }
            readyNs = doneNs;
            Thread.yield();
        }
    }
}
