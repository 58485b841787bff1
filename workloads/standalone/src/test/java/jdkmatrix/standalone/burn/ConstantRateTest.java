package jdkmatrix.standalone.burn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class ConstantRateTest {
    @Test
    void spreadsTasksEvenly() {
        ConstantRate rate = new ConstantRate(4);
        assertEquals(0, rate.offsetNs(0));
        assertEquals(250_000_000, rate.offsetNs(1));
        assertEquals(4, rate.due(1_000_000_000));
        assertEquals(5, rate.due(1_000_000_001));
        assertEquals(1, rate.due(1));
        assertEquals(0, rate.due(0));
    }

    @Test
    void isDueAsOftenAsThereAreOffsetsBeforeTheEnd() {
        Random random = new Random(3);
        for (int round = 0; round < 1_000; round++) {
            ConstantRate rate = new ConstantRate(Math.pow(10, random.nextDouble() * 7));
            long durationNs = 1 + (long) (random.nextDouble() * 100e9);
            long due = rate.due(durationNs);
            assertTrue(rate.offsetNs(due - 1) < durationNs && rate.offsetNs(due) >= durationNs, () -> rate + " " + durationNs);
        }
    }
}
