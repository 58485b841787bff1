package jdkmatrix.loadgen;

import java.util.concurrent.TimeUnit;

/**
 * Bounds on waiting.
 *
 * @param timeoutNs how long a request, and a connection attempt, may take
 */
record Limits(long timeoutNs) {
    /** How long a phase waits at most for its connections before it begins without those that are missing. */
    static final long PREPARE_NS = TimeUnit.SECONDS.toNanos(3);
    /** How long answers are awaited after the end of a phase, so that they do not fall into the next. */
    static final long DRAIN_NS = TimeUnit.SECONDS.toNanos(1);

    static final long INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);
    static final long TIMEOUT_TICK_MIN_NS = TimeUnit.MILLISECONDS.toNanos(1);
    static final long TIMEOUT_TICK_MAX_NS = TimeUnit.MILLISECONDS.toNanos(100);

    static final long MIN_TIMEOUT_MS = 1;
    static final long MAX_TIMEOUT_MS = TimeUnit.HOURS.toMillis(1);

    static Limits ofTimeoutMs(long timeoutMs) {
        if (timeoutMs < MIN_TIMEOUT_MS || timeoutMs > MAX_TIMEOUT_MS) {
            throw new IllegalArgumentException(
                    "timeout = %d ms: %d to %d are allowed".formatted(timeoutMs, MIN_TIMEOUT_MS, MAX_TIMEOUT_MS));
        }
        return new Limits(TimeUnit.MILLISECONDS.toNanos(timeoutMs));
    }
}
