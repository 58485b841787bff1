package jdkmatrix.standalone.burn;

import java.util.Arrays;

/**
 * A count of those inside, over time: each enters at one moment and leaves at a later one, or never. At any moment,
 * those that enter at it count, and those that leave at it do not.
 */
final class Steps {
    /** Rising; the count is {@code inside[i]} from {@code atNs[i]} on, and 0 before the first. */
    private final long[] atNs;

    private final int[] inside;

    /** Receives stretches of time, in their order. */
    @FunctionalInterface
    interface Stretches {
        /** @param most the highest count in the stretch */
        void stretch(long fromNs, long toNs, int most);
    }

    private Steps(long[] atNs, int[] inside) {
        this.atNs = atNs;
        this.inside = inside;
    }

    /** @param enteredNs and {@code leftNs}: in any order, not paired */
    static Steps of(long[] enteredNs, long[] leftNs) {
        long[] up = enteredNs.clone();
        long[] down = leftNs.clone();
        Arrays.sort(up);
        Arrays.sort(down);
        long[] at = new long[up.length + down.length];
        int[] counts = new int[at.length];
        int used = 0;
        int i = 0;
        int j = 0;
        while (i < up.length || j < down.length) {
            long now = j == down.length || (i < up.length && up[i] <= down[j]) ? up[i] : down[j];
            while (i < up.length && up[i] == now) {
                i++;
            }
            while (j < down.length && down[j] == now) {
                j++;
            }
            int before = used == 0 ? 0 : counts[used - 1];
            if (i - j != before) {
                at[used] = now;
                counts[used++] = i - j;
            }
        }
        return new Steps(Arrays.copyOf(at, used), Arrays.copyOf(counts, used));
    }

    int inside(long ns) {
        int step = step(ns);
        return step < 0 ? 0 : inside[step];
    }

    /** Reports the stretches from {@code fromNs} to {@code toNs} in which any are inside, each as long as possible. */
    void occupied(long fromNs, long toNs, Stretches stretches) {
        long openNs = 0;
        int most = 0;
        for (int step = step(fromNs); step < atNs.length && (step < 0 || atNs[step] < toNs); step++) {
            int count = step < 0 ? 0 : inside[step];
            long beginNs = step < 0 ? fromNs : Math.max(fromNs, atNs[step]);
            if (count > 0 && most == 0) {
                openNs = beginNs;
            }
            if (count <= 0 && most > 0) {
                stretches.stretch(openNs, beginNs, most);
                most = 0;
            }
            most = count > 0 ? Math.max(most, count) : 0;
        }
        if (most > 0 && openNs < toNs) {
            stretches.stretch(openNs, toNs, most);
        }
    }

    /** Returns the highest count from {@code fromNs} to {@code toNs}. */
    int most(long fromNs, long toNs) {
        int[] most = {0};
        occupied(fromNs, toNs, (from, to, highest) -> most[0] = Math.max(most[0], highest));
        return most[0];
    }

    /** Returns the integral of the count from {@code fromNs} to {@code toNs}, in ns. */
    double integralNs(long fromNs, long toNs) {
        return integralOfLesserNs(this, new Steps(new long[] {Long.MIN_VALUE}, new int[] {Integer.MAX_VALUE}), fromNs, toNs);
    }

    /** Returns the integral of the lesser of two counts from {@code fromNs} to {@code toNs}, in ns. */
    static double integralOfLesserNs(Steps one, Steps other, long fromNs, long toNs) {
        double sum = 0;
        int i = one.step(fromNs);
        int j = other.step(fromNs);
        long now = fromNs;
        while (now < toNs) {
            long next = Math.min(toNs, Math.min(one.nextNs(i), other.nextNs(j)));
            int lesser = Math.min(i < 0 ? 0 : one.inside[i], j < 0 ? 0 : other.inside[j]);
            sum += (double) (next - now) * Math.max(0, lesser);
            if (one.nextNs(i) == next) {
                i++;
            }
            if (other.nextNs(j) == next) {
                j++;
            }
            now = next;
        }
        return sum;
    }

    /** Returns the step that holds at {@code ns}; -1: before the first. */
    private int step(long ns) {
        int found = Arrays.binarySearch(atNs, ns);
        return found >= 0 ? found : -found - 2;
    }

    private long nextNs(int step) {
        return step + 1 < atNs.length ? atNs[step + 1] : Long.MAX_VALUE;
    }
}
