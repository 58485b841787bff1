package jdkmatrix.remote;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Random delays: the n-th of a seed is always the same, whatever else is requested in between.
 *
 * <p>n counts the requests, from 0 and from the start of the process, that name this seed (or none, which means seed 0)
 * and a spread other than fixed, in the order in which they were received completely. Refused requests do not count; a
 * new period of the figures does not restart n, so that the windows of a run do not repeat each other. A draw beyond
 * {@link Order#MAX_DELAY_NS} is cut to that. Thread-safe.
 */
final class Draws {
    static final int MAX_SEEDS = 4_096;
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;
    private static final double UNIT = 0x1.0p-53;

    private final ConcurrentMap<Long, AtomicLong> next = new ConcurrentHashMap<>();
    private volatile long longestNs = Order.MAX_DELAY_NS;

    /**
     * Caps every delay from now on, whatever is asked for, so that a caller can be warmed up with the requests that are
     * to be measured, without as many of them in flight.
     */
    void atMost(long ns) {
        longestNs = ns;
    }

    /** @throws BadRequestException when there are too many seeds, since each is kept for good */
    long delayNs(Order order) throws BadRequestException {
        return Math.min(longestNs, askedNs(order));
    }

    private long askedNs(Order order) throws BadRequestException {
        if (order.spread() == Spread.FIXED) {
            return order.delayNs();
        }
        AtomicLong counter = next.get(order.seed());
        if (counter == null) {
            if (next.size() >= MAX_SEEDS) {
                throw Parameters.bad("seed", "= " + order.seed(), MAX_SEEDS + " different ones, which were used up");
            }
            counter = next.computeIfAbsent(order.seed(), seed -> new AtomicLong());
        }
        return delayNs(order, counter.getAndIncrement());
    }

    static long delayNs(Order order, long n) {
        // Every draw takes both numbers, so that exponential and log-normal ones count alike. In (0, 1], where the
        // logarithm is finite.
        long start = mix(order.seed()) + 2 * n * GOLDEN;
        double first = unit(mix(start + GOLDEN));
        double second = unit(mix(start + 2 * GOLDEN));
        double factor = switch (order.spread()) {
            case FIXED -> 1;
            // StrictMath gives the same result on every JDK and CPU.
            case EXPONENTIAL -> -StrictMath.log(first);
            case LOGNORMAL -> {
                double normal = StrictMath.sqrt(-2 * StrictMath.log(first)) * StrictMath.cos(2 * Math.PI * second);
                double sigma = order.sigma();
                // The mean of exp(sigma * normal) is exp(sigma² / 2).
                yield StrictMath.exp(sigma * normal - sigma * sigma / 2);
            }
        };
        return (long) Math.min(Order.MAX_DELAY_NS, order.delayNs() * factor);
    }

    private static double unit(long bits) {
        return ((bits >>> 11) + 1) * UNIT;
    }

    /** SplitMix64's finaliser. */
    private static long mix(long z) {
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
