package jdkmatrix.loadgen;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;

/**
 * A rate that is linear between points: slot k is due when the integral of the rate is about to exceed k. So exactly
 * the integral up to a time t, rounded up, is due before t, and nothing is due while the rate is 0.
 *
 * <p>The integral at the points is exact (decimal). Between them it is a quadratic, solved for the time from the end
 * of the stretch where the rate is lower: there the root's terms have the same sign, and the result is right to the
 * nanosecond for as long as a phase may last.
 */
final class RampSlots implements Slots {
    private static final BigDecimal NS_PER_S = BigDecimal.valueOf(1_000_000_000);

    private final List<Stretch> stretches;
    private final long[] firstSlots;
    private final long due;
    private final long endNs;

    RampSlots(List<Load.Ramp.Point> points) {
        List<Stretch> found = new ArrayList<>();
        BigDecimal integral = BigDecimal.ZERO;
        for (int i = 1; i < points.size(); i++) {
            Load.Ramp.Point from = points.get(i - 1);
            Load.Ramp.Point to = points.get(i);
            BigDecimal after = integral.add(integral(from, to));
            if (after.compareTo(integral) > 0) {
                found.add(Stretch.of(from, to, integral, after));
                integral = after;
            }
        }
        stretches = List.copyOf(found);
        firstSlots = found.stream().mapToLong(Stretch::firstSlot).toArray();
        due = roundUp(integral);
        endNs = points.getLast().tNs();
    }

    @Override
    public long offsetNs(long slot) {
        if (slot >= due) {
            return endNs;
        }
        int low = 0;
        int high = firstSlots.length;
        while (high - low > 1) {
            int middle = (low + high) >>> 1;
            if (firstSlots[middle] <= slot) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return stretches.get(low).offsetNs(slot);
    }

    private static BigDecimal integral(Load.Ramp.Point from, Load.Ramp.Point to) {
        BigDecimal twiceMeanRps = BigDecimal.valueOf(from.rateRps()).add(BigDecimal.valueOf(to.rateRps()));
        BigDecimal lengthNs = BigDecimal.valueOf(to.tNs() - from.tNs());
        // Divisors 2 and 10^9: the result is a finite decimal.
        return twiceMeanRps.multiply(lengthNs).divide(NS_PER_S.add(NS_PER_S));
    }

    private static long roundUp(BigDecimal value) {
        return value.setScale(0, RoundingMode.CEILING).longValueExact();
    }

    /**
     * A stretch between two points, with at least a fraction of a request in it. Rates are per nanosecond.
     *
     * @param firstSlot the first slot that is not due before this stretch
     * @param firstLead how much of a request is due in this stretch before {@code firstSlot}: 0 to 1
     * @param endSlot the first slot that is not due before the end of this stretch
     * @param endLead as {@code firstLead}, of the next stretch
     * @param slope change of the rate per nanosecond, not negative, seen from the end with the lower rate
     */
    private record Stretch(
            long startNs,
            long lengthNs,
            boolean falling,
            double lowerRate,
            double slope,
            long firstSlot,
            double firstLead,
            long endSlot,
            double endLead) {
        static Stretch of(Load.Ramp.Point from, Load.Ramp.Point to, BigDecimal before, BigDecimal after) {
            long lengthNs = to.tNs() - from.tNs();
            long firstSlot = roundUp(before);
            long endSlot = roundUp(after);
            return new Stretch(
                    from.tNs(),
                    lengthNs,
                    to.rateRps() < from.rateRps(),
                    Math.min(from.rateRps(), to.rateRps()) / 1e9,
                    Math.abs(to.rateRps() - from.rateRps()) / 1e9 / lengthNs,
                    firstSlot,
                    BigDecimal.valueOf(firstSlot).subtract(before).doubleValue(),
                    endSlot,
                    BigDecimal.valueOf(endSlot).subtract(after).doubleValue());
        }

        long offsetNs(long slot) {
            double sinceStartNs =
                    falling ? lengthNs - timeNs(endSlot - slot - endLead) : timeNs(slot - firstSlot + firstLead);
            // Rounding must not carry a slot out of its stretch.
            return startNs + Math.clamp(Math.round(sinceStartNs), 0, lengthNs - 1);
        }

        /** Returns how long it takes from the end with the lower rate until that many requests have become due. */
        private double timeNs(double requests) {
            return requests == 0 ? 0 : 2 * requests / (lowerRate + Math.sqrt(lowerRate * lowerRate + 2 * slope * requests));
        }
    }
}
