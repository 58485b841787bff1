package jdkmatrix.standalone.burn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ParkAnalysisTest {
    private static final long MS = 1_000_000;
    private static final ClockMap CLOCK =
            ClockMap.of(List.of(new ClockMap.Anchor(0, 0, 2), new ClockMap.Anchor(1_000 * MS, 1_000 * MS, 1_000 * MS + 2)));

    private static ParkLog.WorkerParks parks(long threadId, long... fromAndToMs) {
        long[] from = new long[fromAndToMs.length / 2];
        long[] to = new long[from.length];
        for (int i = 0; i < from.length; i++) {
            from[i] = fromAndToMs[2 * i] * MS;
            to[i] = fromAndToMs[2 * i + 1] * MS;
        }
        return new ParkLog.WorkerParks(threadId, from, to);
    }

    private static ParkReport report(Steps queued, long toMs, Integer atOnce, ParkLog.WorkerParks... workers) {
        return ParkAnalysis.of(new ParkLog(List.of(workers), CLOCK, Map.of(), 0), queued, 0, toMs * MS, atOnce);
    }

    /** Tasks wait from 10 to 30 ms, two of them from 20 ms on; and from 50 to 51 ms. */
    private static Steps queue() {
        return Steps.of(new long[] {10 * MS, 20 * MS, 50 * MS}, new long[] {30 * MS, 30 * MS, 51 * MS});
    }

    @Test
    void oneWorkerThatSleepsThroughAQueue() {
        ParkReport report = report(queue(), 100, 2, parks(7, 5, 25, 40, 60));
        ParkReport.WhileQueued found = report.parkedWhileQueued();
        assertEquals(0.040, report.parkedS(), 1e-9);
        assertEquals(2, found.count());
        assertEquals(0.016, found.totalS(), 1e-9);
        assertEquals(new ParkReport.Longest(15_000, 0.010, 2, 7), found.longest());
        assertEquals(
                List.of(
                        new ParkReport.AtLeast(100, 2, 0.016),
                        new ParkReport.AtLeast(1_000, 2, 0.016),
                        new ParkReport.AtLeast(10_000, 1, 0.015)),
                found.atLeast());
        // One parked worker could have done one task at a time: 15 ms and 1 ms, of 2 * 100 ms.
        assertEquals(0.016, found.idleWorkerS(), 1e-9);
        assertEquals(0.08, found.idleShare(), 1e-9);
    }

    /** Two parked workers and one task: both stretches count, but only one of them could have worked. */
    @Test
    void moreWorkersThanTasks() {
        ParkReport report = report(queue(), 100, 2, parks(1, 0, 100), parks(2, 0, 100));
        ParkReport.WhileQueued found = report.parkedWhileQueued();
        assertEquals(4, found.count());
        assertEquals(0.042, found.totalS(), 1e-9);
        assertEquals(0.010 + 2 * 0.010 + 0.001, found.idleWorkerS(), 1e-9);
    }

    @Test
    void whatIsOutsideOfTheTimeIsLeftOut() {
        ParkReport report = report(queue(), 15, null, parks(1, -5, 12, 14, 80));
        assertEquals(0.013, report.parkedS(), 1e-9);
        assertEquals(0.003, report.parkedWhileQueued().totalS(), 1e-9);
        assertNull(report.parkedWhileQueued().idleShare());
    }

    @Test
    void noQueueNoStretch() {
        ParkReport report = report(Steps.of(new long[0], new long[0]), 100, 1, parks(1, 0, 100));
        assertEquals(0, report.parkedWhileQueued().count());
        assertNull(report.parkedWhileQueued().longest());
        assertNull(report.parkedWhileQueued().stretch());
        assertEquals(0, report.parkedWhileQueued().idleWorkerS());
        assertEquals(0.1, report.parkedS(), 1e-9);
    }
}
