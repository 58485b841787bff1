package jdkmatrix.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RampSlotsTest {
    private static final long S = 1_000_000_000;

    private static Load.Ramp ramp(double... timesAndRates) {
        List<Load.Ramp.Point> points = new ArrayList<>();
        for (int i = 0; i < timesAndRates.length; i += 2) {
            points.add(Load.Ramp.Point.of(timesAndRates[i], timesAndRates[i + 1]));
        }
        return new Load.Ramp(points, 1);
    }

    /** Returns the exact integral of a piecewise linear rate, in requests. */
    private static BigDecimal integral(Load.Ramp ramp, long toNs) {
        BigDecimal sum = BigDecimal.ZERO;
        for (int i = 1; i < ramp.points().size(); i++) {
            Load.Ramp.Point from = ramp.points().get(i - 1);
            Load.Ramp.Point to = ramp.points().get(i);
            long length = to.tNs() - from.tNs();
            long x = Math.clamp(toNs - from.tNs(), 0, length);
            if (x > 0) {
                BigDecimal rate = BigDecimal.valueOf(from.rateRps());
                BigDecimal rise = BigDecimal.valueOf(to.rateRps()).subtract(rate);
                BigDecimal whole = rate.multiply(BigDecimal.valueOf(x));
                BigDecimal triangle = rise.multiply(BigDecimal.valueOf(x).pow(2))
                        .divide(BigDecimal.valueOf(2 * length), 40, RoundingMode.HALF_EVEN);
                sum = sum.add(whole.add(triangle).movePointLeft(9));
            }
        }
        return sum;
    }

    /** Finds by bisection the last nanosecond at which the integral does not exceed the slot's number. */
    private static long exactNs(Load.Ramp ramp, long slot) {
        long low = 0;
        long high = ramp.durationNs();
        while (high - low > 1) {
            long middle = (low + high) >>> 1;
            if (integral(ramp, middle).compareTo(BigDecimal.valueOf(slot)) <= 0) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private static void assertOffsets(Load.Ramp ramp, long... offsetsNs) {
        Slots slots = ramp.slots();
        for (int k = 0; k < offsetsNs.length; k++) {
            assertEquals(offsetsNs[k], slots.offsetNs(k), "slot " + k);
        }
        assertEquals(offsetsNs.length, ramp.schedule(ramp.durationNs()).due());
    }

    @Test
    void flat() {
        assertOffsets(ramp(0, 4, 1, 4), 0, S / 4, S / 2, 3 * S / 4);
        Load.Ramp flat = ramp(0, 1_000, 600, 1_000);
        Slots constant = ConstantSlots.of(1_000);
        for (long k = 0; k < 600_000; k += 777) {
            assertEquals(constant.offsetNs(k), flat.slots().offsetNs(k));
        }
    }

    @Test
    void linear() {
        // The integral is 4 t²: 0, 1/2, √2/2, √3/2.
        assertOffsets(ramp(0, 0, 1, 8), 0, S / 2, 707_106_781, 866_025_404);
        // And from the other end 4 - 4 (1 - t)².
        assertOffsets(ramp(0, 8, 1, 0), 0, 133_974_596, 292_893_219, S / 2);
    }

    @Test
    void jump() {
        assertOffsets(ramp(0, 2, 1, 2, 1, 4, 2, 4), 0, S / 2, S, 5 * S / 4, 3 * S / 2, 7 * S / 4);
    }

    @Test
    void nothingIsDueWhileTheRateIsZero() {
        assertOffsets(ramp(0, 0, 5, 0, 5, 2, 6, 2, 6, 0, 9, 0, 9, 2, 10, 2, 10, 0, 20, 0), 5 * S, 11 * S / 2, 9 * S, 19 * S / 2);
        assertOffsets(ramp(0, 0, 5, 0, 6, 2), 5 * S);
    }

    @Test
    void fractionsOfARequestAddUp() {
        // Ten stretches of 0.3 requests each: slots where the sum passes 1 and 2.
        double[] steps = new double[40];
        for (int i = 0; i < 10; i++) {
            steps[4 * i] = i;
            steps[4 * i + 1] = 0.3;
            steps[4 * i + 2] = i + 1;
            steps[4 * i + 3] = 0.3;
        }
        assertOffsets(ramp(steps), 0, 3_333_333_333L, 6_666_666_667L);
    }

    @Test
    void isExactToTheNanosecondAndRises() {
        Random random = new Random(5);
        for (int round = 0; round < 40; round++) {
            Load.Ramp ramp = randomRamp(random);
            Slots slots = ramp.slots();
            long due = ramp.schedule(ramp.durationNs()).due();
            assertEquals(integral(ramp, ramp.durationNs()).setScale(0, RoundingMode.CEILING).longValueExact(), due);
            for (int i = 0; i < 25; i++) {
                long slot = i == 0 ? due - 1 : (long) (random.nextDouble() * due);
                long offsetNs = slots.offsetNs(slot);
                long tooLateNs = offsetNs - exactNs(ramp, slot);
                assertTrue(tooLateNs >= 0 && tooLateNs <= 1, () -> "slot %d of %s: %d".formatted(slot, ramp, tooLateNs));
                assertTrue(slots.offsetNs(slot + 1) > offsetNs, () -> "slot %d of %s".formatted(slot, ramp));
            }
            assertEquals(ramp.durationNs(), slots.offsetNs(due));
            assertEquals(ramp.durationNs(), slots.offsetNs(Long.MAX_VALUE / 2));
        }
    }

    @Test
    void theScheduleCountsWhatIsDue() {
        Random random = new Random(6);
        for (int round = 0; round < 30; round++) {
            Load.Ramp ramp = randomRamp(random);
            Schedule schedule = new Schedule(ramp.slots(), 7, ramp.durationNs());
            for (int i = 0; i < 20; i++) {
                long ns = (long) (random.nextDouble() * ramp.durationNs());
                long due = schedule.dueBefore(ns);
                // Within 1 ns of the exact time.
                assertTrue(due >= roundUp(integral(ramp, ns - 2)) && due <= roundUp(integral(ramp, ns + 2)));
            }
            long shared = 0;
            for (int connection = 0; connection < 7; connection++) {
                shared += schedule.due(connection);
            }
            assertEquals(schedule.due(), shared);
        }
    }

    private static long roundUp(BigDecimal value) {
        return value.setScale(0, RoundingMode.CEILING).longValueExact();
    }

    /** From fractions of a request per second to the highest rate, over fractions of a second to hours. */
    private static Load.Ramp randomRamp(Random random) {
        List<Load.Ramp.Point> points = new ArrayList<>();
        double scale = Math.pow(10, random.nextInt(-1, 8));
        double tS = 0;
        int count = 3 + random.nextInt(8);
        for (int i = 0; i < count; i++) {
            double rate = switch (random.nextInt(4)) {
                case 0 -> 0;
                case 1 -> i == 0 ? 1 : points.getLast().rateRps();
                default -> Math.round(1_000 * scale * random.nextDouble()) / 1_000.0;
            };
            points.add(Load.Ramp.Point.of(tS, Math.min(rate, Load.MAX_RPS)));
            boolean jump = i > 0 && points.get(i - 1).tNs() < points.get(i).tNs() && random.nextInt(3) == 0;
            tS = jump ? tS : Math.round(1_000 * (tS + Math.pow(10, random.nextInt(-2, 4)) * (0.1 + random.nextDouble()))) / 1_000.0;
        }
        points.add(Load.Ramp.Point.of(tS + 1, 1));
        return new Load.Ramp(points, 1);
    }
}
