package jdkmatrix.serverprobes;

import java.util.Map;
import java.util.function.UnaryOperator;
import jdkmatrix.burn.Burn;

/**
 * {@code GET /burn?rounds=R&repeats=K}: the fastest of K repeats of R rounds, in microseconds, as this process runs
 * them now. Compared with the calibration, it shows whether a request's work takes what was asked for. The fastest
 * counts, because everything that disturbs a repeat makes it longer.
 */
final class BurnProbe implements Probe {
    // Fifty repeats of the longest task that can be asked for, 10 s, on a CPU that does 4,000 rounds in a microsecond.
    private static final long MAX_ROUNDS = 2_000_000_000_000L;
    private static final long MAX_REPEATS = 10_000;

    @Override
    public String answer(UnaryOperator<String> parameter) {
        long rounds = Parameters.wholeNumber("rounds", parameter.apply("rounds"), 1, MAX_ROUNDS);
        long repeats = Parameters.wholeNumber("repeats", parameter.apply("repeats"), 1, MAX_REPEATS);
        if (rounds * repeats > MAX_ROUNDS) {
            throw Problem.badRequest("rounds times repeats: at most " + MAX_ROUNDS + ", found " + rounds * repeats);
        }
        // The calibration times so much work at once that reading the clock takes no part of it.
        long bestNs = Math.max(1, best(rounds, repeats) - best(0, repeats));
        return Json.object(Map.of("rounds", rounds, "best_us", bestNs / 1e3));
    }

    private static long best(long rounds, long repeats) {
        long bestNs = Long.MAX_VALUE;
        for (long repeat = 0; repeat < repeats; repeat++) {
            bestNs = Math.min(bestNs, Burn.timedNs(rounds));
        }
        return bestNs;
    }
}
