package jdkmatrix.standalone.pinning;

import jdkmatrix.common.histogram.Distribution;

/**
 * What the measured time showed.
 *
 * @param operations blocking calls that ended in it
 * @param latency from when a thread was ready for a call to its end, waiting for a carrier included; calls that had not begun
 *     at the end stand in it with what they had waited: {@code lowerBounds} of them
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
     * @param parallelism jdk.virtualThreadScheduler.parallelism, or what it is by default
     * @param most carriers at once, looked at again and again
     * @param compensating how many of them were there beyond the parallelism: they stood in for blocked ones
     * @param source of the number of carriers
     */
    public record CarriersSeen(int parallelism, int maxPoolSize, int most, int compensating, String source) {}
}
