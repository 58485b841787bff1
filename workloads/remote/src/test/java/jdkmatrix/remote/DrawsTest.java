package jdkmatrix.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class DrawsTest {
    private static final int DRAWS = 400_000;
    private static final long MEAN_NS = 200_000_000;

    private static Order order(Spread spread, double sigma, long seed) {
        return new Order(MEAN_NS, 0, spread, sigma, seed, Fault.NONE);
    }

    private static double[] drawn(Order order) {
        return LongStream.range(0, DRAWS).mapToDouble(n -> Draws.delayNs(order, n)).toArray();
    }

    /** The mean is known to about a thousandth here; the median shows the shape. */
    @Test
    void exponentialDelaysHaveTheMeanAndTheShape() {
        for (long seed : new long[] {0, 1, 2, -1, 0x9E3779B97F4A7C15L}) {
            double[] delays = drawn(order(Spread.EXPONENTIAL, 0, seed));
            assertEquals(MEAN_NS, Arrays.stream(delays).average().orElseThrow(), MEAN_NS * 0.01);
            Arrays.sort(delays);
            assertEquals(MEAN_NS * Math.log(2), delays[DRAWS / 2], MEAN_NS * 0.01);
        }
    }

    @Test
    void logNormalDelaysHaveTheMeanAndTheShape() {
        for (double sigma : new double[] {0.1, 0.5, 1}) {
            double[] delays = drawn(order(Spread.LOGNORMAL, sigma, 5));
            assertEquals(MEAN_NS, Arrays.stream(delays).average().orElseThrow(), MEAN_NS * 0.02);
            Arrays.sort(delays);
            assertEquals(MEAN_NS * Math.exp(-sigma * sigma / 2), delays[DRAWS / 2], MEAN_NS * 0.02);
            double logSpread = Math.log(delays[(int) (DRAWS * 0.8413)] / delays[DRAWS / 2]);
            assertEquals(sigma, logSpread, 0.02 * sigma + 0.005);
        }
        assertEquals(MEAN_NS, Draws.delayNs(order(Spread.LOGNORMAL, 0, 5), 3), 1);
    }

    @Test
    void theNthOfASeedIsAlwaysTheSame() throws BadRequestException {
        Draws first = new Draws();
        Draws second = new Draws();
        Order one = order(Spread.EXPONENTIAL, 0, 1);
        Order two = order(Spread.EXPONENTIAL, 0, 2);
        for (int n = 0; n < 100; n++) {
            long delayNs = first.delayNs(one);
            assertEquals(Draws.delayNs(one, n), delayNs);
            assertEquals(delayNs, second.delayNs(one));
            assertNotEquals(delayNs, second.delayNs(two));
            assertEquals(MEAN_NS, second.delayNs(order(Spread.FIXED, 0, 1)));
        }
        // Not only on this JVM: results of earlier versions were drawn like this.
        assertEquals(57_603_561, Draws.delayNs(one, 0));
    }

    @Test
    void nothingIsBeyondTheLongestDelay() {
        Order longest = new Order(Order.MAX_DELAY_NS, 0, Spread.EXPONENTIAL, 0, 1, Fault.NONE);
        assertEquals(
                Order.MAX_DELAY_NS,
                LongStream.range(0, 1_000).map(n -> Draws.delayNs(longest, n)).max().orElseThrow());
        assertTrue(LongStream.range(0, 1_000).map(n -> Draws.delayNs(longest, n)).min().orElseThrow() >= 0);
    }

    @Test
    void seedsAreBounded() throws BadRequestException {
        Draws draws = new Draws();
        for (int seed = 0; seed < Draws.MAX_SEEDS; seed++) {
            draws.delayNs(order(Spread.EXPONENTIAL, 0, seed));
        }
        draws.delayNs(order(Spread.EXPONENTIAL, 0, 0));
        Order tooMany = order(Spread.EXPONENTIAL, 0, -1);
        assertEquals(
                "seed = -1; allowed: 4096 different ones, which were used up",
                assertThrows(BadRequestException.class, () -> draws.delayNs(tooMany)).getMessage());
    }
}
