package jdkmatrix.standalone.burn;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Maps times of JDK Flight Recorder onto System.nanoTime.
 *
 * <p>The recorder counts ticks of its own clock (often the processor's) and shows them as wall-clock time, worked out
 * from a frequency and one reading per chunk of the recording. Neither has to agree with System.nanoTime. So events
 * with both times are recorded now and then: the recorder takes an anchor's time between two readings of
 * System.nanoTime. Between anchors, the offset is interpolated.
 *
 * <p>It is exact to half of {@link #bracketNs} at an anchor, and to {@link #residualNs} in between, found by leaving
 * each anchor out and working it out from its neighbours.
 */
final class ClockMap {
    // A thread that is interrupted between its two readings makes a poor anchor.
    private static final int MAX_MEDIANS = 4;

    private final long[] atNs;
    private final long[] offsetNs;
    private final long bracketNs;

    /**
     * @param recorderNs the recorder's time since the epoch
     * @param beforeNs and {@code afterNs}: System.nanoTime around it
     */
    record Anchor(long recorderNs, long beforeNs, long afterNs) {
        long bracketNs() {
            return afterNs - beforeNs;
        }

        long offsetNs() {
            return beforeNs + bracketNs() / 2 - recorderNs;
        }
    }

    private ClockMap(long[] atNs, long[] offsetNs, long bracketNs) {
        this.atNs = atNs;
        this.offsetNs = offsetNs;
        this.bracketNs = bracketNs;
    }

    /** @throws IllegalArgumentException when there are fewer than two usable anchors */
    static ClockMap of(List<Anchor> anchors) {
        long[] brackets = anchors.stream().mapToLong(Anchor::bracketNs).sorted().toArray();
        long widestNs = brackets.length == 0 ? 0 : Math.max(1, brackets[brackets.length / 2]) * MAX_MEDIANS;
        List<Anchor> kept = new ArrayList<>();
        anchors.stream()
                .filter(anchor -> anchor.bracketNs() <= widestNs)
                .sorted(Comparator.comparingLong(Anchor::recorderNs))
                .forEach(anchor -> {
                    if (kept.isEmpty() || kept.getLast().recorderNs() < anchor.recorderNs()) {
                        kept.add(anchor);
                    }
                });
        if (kept.size() < 2) {
            throw new IllegalArgumentException(
                    "the recording has %d usable anchors between its clock and System.nanoTime; 2 are needed"
                            .formatted(kept.size()));
        }
        return new ClockMap(
                kept.stream().mapToLong(Anchor::recorderNs).toArray(),
                kept.stream().mapToLong(Anchor::offsetNs).toArray(),
                kept.stream().mapToLong(Anchor::bracketNs).max().orElseThrow());
    }

    /** Maps a time of the recorder. Before the first and after the last anchor, their offsets apply. */
    long toNanoTime(long recorderNs) {
        int found = Arrays.binarySearch(atNs, recorderNs);
        if (found >= 0) {
            return recorderNs + offsetNs[found];
        }
        int after = -found - 1;
        if (after == 0) {
            return recorderNs + offsetNs[0];
        }
        if (after == atNs.length) {
            return recorderNs + offsetNs[after - 1];
        }
        return recorderNs + interpolated(recorderNs, after - 1, after);
    }

    int anchors() {
        return atNs.length;
    }

    /** The widest distance between the two readings around an anchor. */
    long bracketNs() {
        return bracketNs;
    }

    /** The largest error when an anchor is worked out from its neighbours; 0 with only two. */
    long residualNs() {
        long largest = 0;
        for (int i = 1; i + 1 < atNs.length; i++) {
            largest = Math.max(largest, Math.abs(offsetNs[i] - interpolated(atNs[i], i - 1, i + 1)));
        }
        return largest;
    }

    private long interpolated(long recorderNs, int before, int after) {
        double part = (double) (recorderNs - atNs[before]) / (atNs[after] - atNs[before]);
        return offsetNs[before] + Math.round(part * (offsetNs[after] - offsetNs[before]));
    }
}
