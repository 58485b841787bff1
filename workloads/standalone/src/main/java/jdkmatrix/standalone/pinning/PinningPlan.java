package jdkmatrix.standalone.pinning;

/**
 * What was asked for.
 *
 * @param construct as {@link Construct#parse} reads it
 * @param threads virtual ones; null: {@code kernelThreads} instead
 */
public record PinningPlan(
        String construct, Integer threads, Integer kernelThreads, int blockMs, double durationS, double warmupS) {
    boolean virtual() {
        return threads != null;
    }

    /** Threads of whichever kind. */
    int loops() {
        return virtual() ? threads : kernelThreads;
    }
}
