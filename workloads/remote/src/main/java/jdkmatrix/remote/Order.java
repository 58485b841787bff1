package jdkmatrix.remote;

import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The parameters of one request.
 *
 * @param delayNs from the moment the whole request was received; the mean where delays vary
 * @param sigma standard deviation of the logarithm of a log-normal delay
 * @param seed selects the sequence of draws that the delay is taken from; see {@link Draws}
 */
record Order(long delayNs, int sizeBytes, Spread spread, double sigma, long seed, Fault fault) {
    static final long MAX_DELAY_NS = TimeUnit.SECONDS.toNanos(600);
    static final int MAX_SIZE_BYTES = 10 << 20;
    static final double MAX_SIGMA = 3;
    private static final double DEFAULT_SIGMA = 0.5;
    private static final long DEFAULT_SIZE_BYTES = 64;

    private static final String DELAY = "delay_us";
    private static final String SIZE = "size_bytes";
    private static final String SPREAD = "spread";
    private static final String SIGMA = "sigma";
    private static final String SEED = "seed";
    private static final String FAULT = "fault";
    private static final String RESET = "reset";
    private static final String AT_MOST = "at_most_us";
    private static final Set<String> OF_AN_ANSWER = Set.of(DELAY, SIZE, SPREAD, SIGMA, SEED, FAULT);

    static Order parse(Parameters given) throws BadRequestException {
        given.allowOnly(OF_AN_ANSWER);
        long delayUs = given.whole(DELAY, null, 0, TimeUnit.NANOSECONDS.toMicros(MAX_DELAY_NS));
        long sizeBytes = given.whole(SIZE, DEFAULT_SIZE_BYTES, 0, MAX_SIZE_BYTES);
        Spread spread = given.oneOf(SPREAD, Spread.FIXED, Spread.values(), Spread::word);
        if (given.has(SIGMA) && spread != Spread.LOGNORMAL) {
            throw Parameters.bad(SIGMA, "is given with spread = " + spread.word(), "with spread = lognormal only");
        }
        double sigma = given.real(SIGMA, DEFAULT_SIGMA, 0, MAX_SIGMA);
        if (given.has(SEED) && spread == Spread.FIXED) {
            throw Parameters.bad(SEED, "is given with spread = fixed", "with spread = exponential, lognormal");
        }
        long seed = given.whole(SEED, 0L, Long.MIN_VALUE, Long.MAX_VALUE);
        Fault fault = given.oneOf(FAULT, Fault.NONE, Fault.values(), Fault::word);
        return new Order(TimeUnit.MICROSECONDS.toNanos(delayUs), (int) sizeBytes, spread, sigma, seed, fault);
    }

    /** Parses the query of /stats and returns whether a new period begins. */
    static boolean parseReset(Parameters given) throws BadRequestException {
        given.allowOnly(Set.of(RESET));
        return given.oneOf(RESET, false, new Boolean[] {true, false}, String::valueOf);
    }

    /** Parses the query of /delay, the cap on delays from now on; without a figure, they are as long as asked for. */
    static long parseLongestNs(Parameters given) throws BadRequestException {
        given.allowOnly(Set.of(AT_MOST));
        long longestUs = TimeUnit.NANOSECONDS.toMicros(MAX_DELAY_NS);
        return TimeUnit.MICROSECONDS.toNanos(given.whole(AT_MOST, longestUs, 0, longestUs));
    }
}
