package jdkmatrix.burn;

import java.util.Arrays;

/**
 * The number of rounds of {@link Burn} that make a microsecond on this CPU with this JVM.
 *
 * <p>Whatever disturbs a batch of rounds (an interrupt, another process, the JIT compiler) makes it longer, never
 * shorter. So a repeat takes the 10th percentile of its batches' times: low enough to leave the disturbed ones out,
 * and, unlike the minimum, not decided by one lucky batch at a higher clock. The calibration is the median of the
 * repeats, which are spread evenly over the time, and their spread says how far to trust it: how much the CPU clock
 * moves meanwhile.
 *
 * @param roundsPerUs median over the repeats
 * @param repeats number of repeats
 * @param spread (max - min) / median over the repeats
 */
public record Calibration(double roundsPerUs, int repeats, double spread) {
    private static final long BATCH_NS = 1_000_000;
    private static final int REPEATS = 20;
    private static final int MIN_BATCHES_PER_REPEAT = 10;
    private static final double QUANTILE = 0.10;

    /**
     * Warms up for a third of the time, then measures for the rest.
     *
     * @param seconds about how long it takes, more than 0
     */
    public static Calibration measure(double seconds) {
        long batchRounds = warmUp((long) (seconds / 3 * 1e9));
        int batches = Math.max(MIN_BATCHES_PER_REPEAT, (int) (seconds * 2 / 3 * 1e9 / REPEATS / BATCH_NS));
        double[] roundsPerUs = new double[REPEATS];
        for (int repeat = 0; repeat < REPEATS; repeat++) {
            roundsPerUs[repeat] = repeat(batchRounds, batches);
        }
        return of(roundsPerUs);
    }

    /** Summarises repeats, each in rounds per microsecond; at least one. */
    static Calibration of(double[] roundsPerUs) {
        double[] sorted = roundsPerUs.clone();
        Arrays.sort(sorted);
        double median = (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
        return new Calibration(median, sorted.length, (sorted[sorted.length - 1] - sorted[0]) / median);
    }

    /** Runs until the time is up and returns how many rounds take about as long as one batch should. */
    private static long warmUp(long durationNs) {
        long end = System.nanoTime() + durationNs;
        long rounds = 1_000;
        do {
            long elapsed = Burn.timedNs(rounds);
            rounds = Math.clamp(Math.round((double) rounds * BATCH_NS / elapsed), rounds / 2, rounds * 2);
        } while (System.nanoTime() - end < 0);
        return rounds;
    }

    private static double repeat(long batchRounds, int batches) {
        long[] elapsed = new long[batches];
        for (int batch = 0; batch < elapsed.length; batch++) {
            elapsed[batch] = Burn.timedNs(batchRounds);
        }
        Arrays.sort(elapsed);
        return batchRounds * 1e3 / elapsed[(int) (QUANTILE * elapsed.length)];
    }
}
