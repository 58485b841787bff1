package jdkmatrix.standalone.pinning;

import jdkmatrix.common.histogram.Distribution;

/**
 * The figures of the measured time.
 *
 * @param operations blocking calls that ended in it
 * @param latency from when a thread was ready for a call to its end, waiting for a carrier included; calls that had not
 *     begun at the end count with the time they had waited: {@code lowerBounds} of them
 * @param threadsServed threads that finished at least one call, warm-up included
 * @param carriers null with platform threads
 */
public record PinningSeen(
        int threadsStarted,
        double durationS,
        long operations,
        double throughputPerS,
        Distribution latency,
        long lowerBounds,
        int threadsServed,
        double cpuS,
        CarriersSeen carriers,
        PinnedReport pinned) {
    /**
     * The scheduler of virtual threads.
     *
     * @param parallelism jdk.virtualThreadScheduler.parallelism, or its default
     * @param most the most carriers at once, sampled
     * @param compensating how many of them exceeded the parallelism, standing in for blocked ones
     * @param source where the number of carriers comes from
     */
    public record CarriersSeen(int parallelism, int maxPoolSize, int most, int compensating, String source) {}
}
