package jdkmatrix.burn;

/**
 * A fixed amount of CPU work.
 *
 * <p>One round is a shift, an exclusive or and a multiplication of one 64-bit state: about five cycles of latency, a
 * little over a nanosecond. Every round needs the result of the round before, so a compiler can neither vectorise nor
 * reorder them, and the loop's own instructions hide behind that latency: compiled code takes about the same time
 * whichever compiler made it, unrolled or not, inlined or not. (A rotation would be one instruction for C2 and three
 * for C1.) The exclusive or with a shift is linear over single bits and the multiplication modulo 2^64 is not, so that
 * a run of rounds cannot be folded into one either.
 */
public final class Burn {
    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;
    private static final int SHIFT = 32;

    // Short enough that every call of a realistic length enters `chain` often: it is then compiled as a whole
    // method soon, and the speed does not depend on where an on-stack replacement of a long loop happened.
    private static final int CHUNK_ROUNDS = 1024;

    // Not final, so that no compiler may treat the chain's start, and with it the result, as a constant.
    private static long start = 0x2545F4914F6CDD1DL;

    private Burn() {}

    /**
     * Does {@code rounds} rounds.
     *
     * @return the state after the last round: the same for the same number of rounds, and never 0, because each
     *     round is a bijection that maps only 0 to 0. Callers consume it by comparing it with 0.
     */
    public static long burn(long rounds) {
        long state = start;
        long left = rounds;
        while (left > 0) {
            int chunk = (int) Math.min(left, CHUNK_ROUNDS);
            state = chain(state, chunk);
            left -= chunk;
        }
        return state;
    }

    private static long chain(long from, int rounds) {
        long state = from;
        for (int round = 0; round < rounds; round++) {
            state = (state ^ (state >>> SHIFT)) * MULTIPLIER;
        }
        return state;
    }

    /**
     * Does {@code rounds} rounds and times them.
     *
     * @return elapsed nanoseconds, at least 1
     */
    public static long timedNs(long rounds) {
        long from = System.nanoTime();
        long state = burn(rounds);
        long elapsed = System.nanoTime() - from;
        if (state == 0) {
            throw new IllegalStateException("burn reached state 0, which no number of rounds can");
        }
        return Math.max(1, elapsed);
    }
}
