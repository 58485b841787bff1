package jdkmatrix.serverprobes;

import jdkmatrix.burn.Burn;

/**
 * The work that a request does on top of its own: {@code burn_us=N} is N microseconds of it. The rounds per microsecond
 * are a property of the server process, so that all executors under comparison do the same work, however long it takes
 * them.
 */
public final class FixedWork {
    static final String ROUNDS_PER_US = "jdkmatrix.burn.rounds_per_us";
    static final long MAX_BURN_US = 10_000_000;

    // Read once: looking the property up in each request would be work that burn_us=0 does not have.
    private static final String CONFIGURED = System.getProperty(ROUNDS_PER_US);

    private FixedWork() {}

    /**
     * @param burnUs as given in the query; null: no work
     * @throws Problem 400 when it is not an allowed number of microseconds, 500 when the property is missing or wrong
     */
    public static void burn(String burnUs) {
        if (burnUs == null) {
            return;
        }
        long us = Parameters.wholeNumber("burn_us", burnUs, 0, MAX_BURN_US);
        double roundsPerUs = Parameters.positive(ROUNDS_PER_US, CONFIGURED);
        if (Burn.burn(Math.round(us * roundsPerUs)) == 0) {
            throw new IllegalStateException("burn reached state 0, which no number of rounds can");
        }
    }
}
