package jdkmatrix.loadgen;

import java.util.concurrent.TimeUnit;

/**
 * Bounds on waiting.
 *
 * @param timeoutNs how long a request, and a connection attempt, may take
 * @param bundleNs an event loop wakes for its schedule at most once in this time, so a request may be sent this much
 *     late (never early), together with the next. Waking is what costs: in a virtual machine one timer and the answer's
 *     interrupt take more CPU than sending, reading and parsing. Below one request per this time nothing is bundled.
 */
record Limits(long timeoutNs, long bundleNs) {
    private static final long PREPARE_NS = TimeUnit.SECONDS.toNanos(3);
    private static final long PREPARE_EACH_NS = TimeUnit.MILLISECONDS.toNanos(2);
    /** How long to wait for answers after the end of a phase, so that they do not fall into the next. */
    static final long DRAIN_NS = TimeUnit.SECONDS.toNanos(1);

    static final long TIMEOUT_TICK_MIN_NS = TimeUnit.MILLISECONDS.toNanos(1);
    static final long TIMEOUT_TICK_MAX_NS = TimeUnit.MILLISECONDS.toNanos(100);

    static final long MIN_TIMEOUT_MS = 1;
    static final long MAX_TIMEOUT_MS = TimeUnit.HOURS.toMillis(1);

    static final long MAX_BUNDLE_US = 100_000;

    /** Returns how long a phase waits at most for its connections before it begins without the missing ones. */
    static long prepareNs(int connections) {
        return PREPARE_NS + connections * PREPARE_EACH_NS;
    }

    static Limits of(long timeoutMs, long bundleUs) {
        if (timeoutMs < MIN_TIMEOUT_MS || timeoutMs > MAX_TIMEOUT_MS) {
            throw new IllegalArgumentException(
                    "timeout = %d ms: %d to %d are allowed".formatted(timeoutMs, MIN_TIMEOUT_MS, MAX_TIMEOUT_MS));
        }
        if (bundleUs < 0 || bundleUs > MAX_BUNDLE_US) {
            throw new IllegalArgumentException(
                    "bundle = %d us: 0 to %d are allowed".formatted(bundleUs, MAX_BUNDLE_US));
        }
        return new Limits(TimeUnit.MILLISECONDS.toNanos(timeoutMs), TimeUnit.MICROSECONDS.toNanos(bundleUs));
    }
}
