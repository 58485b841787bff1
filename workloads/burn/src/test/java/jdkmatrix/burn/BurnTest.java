package jdkmatrix.burn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import org.junit.jupiter.api.Test;

class BurnTest {
    private static final BigInteger WORD = BigInteger.ONE.shiftLeft(64);

    /** Defines a round in other arithmetic: code with folded or skipped rounds would give another result. */
    private static long reference(int rounds) {
        BigInteger state = new BigInteger("2545F4914F6CDD1D", 16);
        BigInteger multiplier = new BigInteger("9E3779B97F4A7C15", 16);
        for (int round = 0; round < rounds; round++) {
            state = state.xor(state.shiftRight(32)).multiply(multiplier).mod(WORD);
        }
        return state.longValue();
    }

    @Test
    void everyRoundIsDone() {
        for (int rounds : new int[] {0, 1, 2, 1023, 1024, 1025, 5000}) {
            assertEquals(reference(rounds), Burn.burn(rounds), rounds + " rounds");
        }
    }

    @Test
    void compiledCodeDoesTheSame() {
        long interpreted = Burn.burn(3_000);
        long last = 0;
        for (int call = 0; call < 20_000; call++) {
            last = Burn.burn(3_000);
        }
        assertEquals(interpreted, last);
        assertNotEquals(0, last);
    }

    @Test
    void twiceTheRoundsTakeTwiceTheTime() {
        fastest(1_000_000, 300);
        double ratio = (double) fastest(2_000_000, 60) / fastest(1_000_000, 60);
        assertTrue(ratio > 1.7 && ratio < 2.3, "ratio " + ratio);
    }

    @Test
    void manyShortCallsTakeAsLongAsOneLong() {
        fastest(100_000, 2_000);
        double ratio = (double) fastestOfCalls(100, 1_000, 100) / fastest(100_000, 100);
        assertTrue(ratio > 0.8 && ratio < 1.5, "ratio " + ratio);
    }

    private static long fastest(long rounds, int repeats) {
        return fastestOfCalls(1, rounds, repeats);
    }

    private static long fastestOfCalls(int calls, long rounds, int repeats) {
        long fastest = Long.MAX_VALUE;
        for (int repeat = 0; repeat < repeats; repeat++) {
            long from = System.nanoTime();
            long consumed = 0;
            for (int call = 0; call < calls; call++) {
                consumed |= Burn.burn(rounds);
            }
            fastest = Math.min(fastest, System.nanoTime() - from);
            assertNotEquals(0, consumed);
        }
        return fastest;
    }
}
