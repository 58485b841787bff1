package jdkmatrix.standalone.burn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class StepsTest {
    private static final int HORIZON = 40;

    private record Stretch(long from, long to, int most) {}

    private static List<Stretch> occupied(Steps steps, long from, long to) {
        List<Stretch> found = new ArrayList<>();
        steps.occupied(from, to, (begin, end, most) -> found.add(new Stretch(begin, end, most)));
        return found;
    }

    @Test
    void nothingEver() {
        Steps steps = Steps.of(new long[0], new long[0]);
        assertEquals(0, steps.inside(5));
        assertEquals(List.of(), occupied(steps, 0, 10));
        assertEquals(0, steps.most(0, 10));
        assertEquals(0, steps.integralNs(0, 10));
    }

    @Test
    void oneThatLeavesAndOneThatStays() {
        Steps steps = Steps.of(new long[] {10, 2}, new long[] {5});
        assertEquals(0, steps.inside(1));
        assertEquals(1, steps.inside(2));
        assertEquals(1, steps.inside(4));
        assertEquals(0, steps.inside(5));
        assertEquals(1, steps.inside(1_000));
        assertEquals(List.of(new Stretch(2, 5, 1), new Stretch(10, 20, 1)), occupied(steps, 0, 20));
        assertEquals(List.of(new Stretch(3, 4, 1)), occupied(steps, 3, 4));
        assertEquals(List.of(), occupied(steps, 5, 10));
        assertEquals(List.of(), occupied(steps, 3, 3));
    }

    /** When one leaves as another enters, the stretch goes on. */
    @Test
    void aChangeOfGuardIsNoGap() {
        Steps steps = Steps.of(new long[] {1, 4}, new long[] {4, 6});
        assertEquals(List.of(new Stretch(1, 6, 1)), occupied(steps, 0, 10));
    }

    @Test
    void agreesWithCountingEachNanosecond() {
        Random random = new Random(1);
        for (int round = 0; round < 2_000; round++) {
            Guests one = Guests.draw(random);
            Guests other = Guests.draw(random);
            long from = random.nextInt(HORIZON);
            long to = from + random.nextInt(HORIZON);
            double integral = 0;
            double lesser = 0;
            int most = 0;
            long inStretches = 0;
            for (long ns = from; ns < to; ns++) {
                assertEquals(one.inside(ns), one.steps().inside(ns));
                integral += one.inside(ns);
                lesser += Math.min(one.inside(ns), other.inside(ns));
                most = Math.max(most, one.inside(ns));
                inStretches += one.inside(ns) > 0 ? 1 : 0;
            }
            assertEquals(integral, one.steps().integralNs(from, to));
            assertEquals(lesser, Steps.integralOfLesserNs(one.steps(), other.steps(), from, to));
            assertEquals(lesser, Steps.integralOfLesserNs(other.steps(), one.steps(), from, to));
            assertEquals(most, one.steps().most(from, to));
            List<Stretch> stretches = occupied(one.steps(), from, to);
            assertEquals(inStretches, stretches.stream().mapToLong(stretch -> stretch.to() - stretch.from()).sum());
            long last = Long.MIN_VALUE;
            for (Stretch stretch : stretches) {
                // They are apart from each other, or they would be one.
                assertTrue(stretch.from() > last && stretch.to() > stretch.from(), stretches::toString);
                last = stretch.to();
            }
        }
    }

    /** Guests that enter and leave: the definition itself. */
    private record Guests(long[] entered, long[] left) {
        static Guests draw(Random random) {
            int count = random.nextInt(8);
            int leaving = count == 0 ? 0 : random.nextInt(count + 1);
            long[] entered = new long[count];
            long[] left = new long[leaving];
            for (int i = 0; i < count; i++) {
                entered[i] = random.nextInt(HORIZON);
                if (i < leaving) {
                    left[i] = entered[i] + random.nextInt(10);
                }
            }
            return new Guests(entered, left);
        }

        Steps steps() {
            return Steps.of(entered, left);
        }

        int inside(long ns) {
            int inside = 0;
            for (int i = 0; i < entered.length; i++) {
                inside += entered[i] <= ns && (i >= left.length || ns < left[i]) ? 1 : 0;
            }
            return inside;
        }
    }
}
