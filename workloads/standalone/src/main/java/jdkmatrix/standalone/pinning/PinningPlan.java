package jdkmatrix.standalone.pinning;

/**
 * The parameters of the experiment.
 *
 * @param construct as {@link Construct#parse} reads it
 * @param threads virtual threads; null: {@code kernelThreads} instead
 */
public record PinningPlan(
        String construct, Integer threads, Integer kernelThreads, int blockMs, double durationS, double warmupS) {
    boolean virtual() {
        return threads != null;
    }

    /** Returns the number of threads, of whichever kind. */
    int loops() {
        return virtual() ? threads : kernelThreads;
    }
}
