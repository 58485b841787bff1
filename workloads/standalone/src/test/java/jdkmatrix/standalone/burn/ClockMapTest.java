package jdkmatrix.standalone.burn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ClockMapTest {
    private static final long MS = 1_000_000;
    private static final long EPOCH_NS = 1_700_000_000_000_000_000L;

    private static ClockMap.Anchor anchor(long recorderNs, long nanoTime, long bracketNs) {
        return new ClockMap.Anchor(recorderNs, nanoTime - bracketNs / 2, nanoTime - bracketNs / 2 + bracketNs);
    }

    @Test
    void anOffsetIsTakenOff() {
        ClockMap map = ClockMap.of(List.of(anchor(EPOCH_NS, 500, 10), anchor(EPOCH_NS + MS, 500 + MS, 10)));
        assertEquals(500, map.toNanoTime(EPOCH_NS));
        assertEquals(500 + MS / 3, map.toNanoTime(EPOCH_NS + MS / 3));
        assertEquals(500 - 7, map.toNanoTime(EPOCH_NS - 7));
        assertEquals(500 + MS + 7, map.toNanoTime(EPOCH_NS + MS + 7));
        assertEquals(0, map.residualNs());
        assertEquals(10, map.bracketNs());
        assertEquals(2, map.anchors());
    }

    /** With a clock that runs at another speed, it is exact between anchors, whatever their distances and order. */
    @Test
    void anotherSpeedIsFollowed() {
        Random random = new Random(2);
        for (int round = 0; round < 200; round++) {
            double speed = 1 + (random.nextDouble() - 0.5) / 100;
            List<ClockMap.Anchor> anchors = new ArrayList<>();
            long at = 0;
            for (int i = 0; i < 20; i++) {
                anchors.add(anchor(EPOCH_NS + at, 1_000 + Math.round(at * speed), 20));
                at += 1 + random.nextInt(200) * MS;
            }
            Collections.shuffle(anchors, random);
            ClockMap map = ClockMap.of(anchors);
            assertTrue(map.residualNs() <= 2, () -> "residual " + map.residualNs());
            long last = anchors.stream().mapToLong(ClockMap.Anchor::recorderNs).max().orElseThrow() - EPOCH_NS;
            for (int i = 0; i < 50; i++) {
                long ns = (long) (random.nextDouble() * last);
                long error = map.toNanoTime(EPOCH_NS + ns) - (1_000 + Math.round(ns * speed));
                assertTrue(Math.abs(error) <= 2, () -> "error " + error);
            }
        }
    }

    @Test
    void aPoorAnchorIsLeftOut() {
        List<ClockMap.Anchor> anchors = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            anchors.add(anchor(EPOCH_NS + i * MS, i * MS, 40));
        }
        // Interrupted for 4.5 ms between the readings.
        anchors.add(new ClockMap.Anchor(EPOCH_NS + 4 * MS + MS / 2, 4 * MS + MS / 2, 9 * MS));
        ClockMap map = ClockMap.of(anchors);
        assertEquals(9, map.anchors());
        assertEquals(40, map.bracketNs());
        assertEquals(4 * MS + MS / 2, map.toNanoTime(EPOCH_NS + 4 * MS + MS / 2));
    }

    /** A jump of the clock cannot be mapped away, but it can be reported. */
    @Test
    void aJumpShowsInTheResidual() {
        List<ClockMap.Anchor> anchors = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            anchors.add(anchor(EPOCH_NS + i * MS + (i < 5 ? 0 : 300_000), i * MS, 10));
        }
        assertTrue(ClockMap.of(anchors).residualNs() > 100_000);
    }

    @Test
    void twoAreNeeded() {
        for (List<ClockMap.Anchor> few : List.of(List.<ClockMap.Anchor>of(), List.of(anchor(1, 1, 1)))) {
            String found = assertThrows(IllegalArgumentException.class, () -> ClockMap.of(few)).getMessage();
            assertTrue(found.contains(few.size() + " usable anchors"), found);
        }
        ClockMap.Anchor twice = anchor(1, 1, 1);
        assertThrows(IllegalArgumentException.class, () -> ClockMap.of(List.of(twice, twice)));
    }
}
