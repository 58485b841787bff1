package jdkmatrix.standalone.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.MemoryUsage;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProcTest {
    private static final List<String> STATUS = List.of(
            "Name:\tjava", "VmPeak:\t 4464800 kB", "VmSize:\t 4464796 kB", "VmHWM:\t   51200 kB", "VmRSS:\t   50000 kB",
            "Threads:\t27");

    @Test
    void readsStatus() throws IOException {
        assertEquals(
                new ProcStatus(4464796L * 1024, 4464800L * 1024, 50000L * 1024, 51200L * 1024, 27), ProcStatus.parse(STATUS));
    }

    @Test
    void aLineThatIsMissingOrStrangeIsSaid() {
        assertThrows(IOException.class, () -> ProcStatus.parse(STATUS.subList(0, 5)));
        assertThrows(IOException.class, () -> ProcStatus.parse(List.of("VmSize:\tmany kB")));
        assertThrows(IOException.class, () -> ProcStatus.parse(List.of("VmSize:\t1")));
    }

    @Test
    void readsItsOwn() throws IOException {
        ProcStatus status = ProcStatus.now();
        assertTrue(status.rssBytes() > 10_000_000 && status.rssBytes() <= status.rssPeakBytes(), status.toString());
        assertTrue(status.virtBytes() >= status.rssBytes(), status.toString());
        assertTrue(status.threads() > 1, status.toString());
        MemoryUse use = MemoryUse.now();
        assertTrue(use.pssBytes() == null || use.pssBytes() <= use.virtBytes(), use.toString());
        assertTrue(use.heapUsedBytes() <= use.heapCommittedBytes(), use.toString());
    }

    @Test
    void whatIsPresentIsToldByTheMappingsWhereTheyAreShown() throws IOException {
        ProcStatus status = ProcStatus.parse(STATUS);
        MemoryUsage heap = new MemoryUsage(0, 50, 100, 200);
        List<String> rollup = List.of(
                "00400000-7ffd1000 ---p 00000000 00:00 0                          [rollup]",
                "Rss:              250000 kB", "Pss:              240000 kB", "Pss_Dirty:        230000 kB");
        assertEquals(
                new MemoryUse(4464796L * 1024, 250000L * 1024, 240000L * 1024, 100, 50, 27),
                MemoryUse.of(status, rollup, heap));
        assertEquals(
                new MemoryUse(4464796L * 1024, 50000L * 1024, null, 100, 50, 27),
                MemoryUse.of(status, List.of(), heap));
    }

    @Test
    void aPeakIsNoLessThanWhatWasSeen() {
        MemoryUse seen = new MemoryUse(1_000, 700, null, 100, 50, 10);
        MemoryUse.Peak peak = new MemoryUse.Peak(1_200, 500);
        assertEquals(new MemoryUse.Peak(1_200, 700), peak.atLeast(seen));
        assertEquals(peak, peak.atLeast(null));
    }

    @Test
    void sharesADifferenceOut() {
        MemoryUse before = new MemoryUse(1_000, 500, null, 100, 50, 10);
        MemoryUse after = new MemoryUse(3_000, 700, 5L, 100, 80, 30);
        assertEquals(new MemoryUse.PerThread(100, 10, null, 0, 1), after.perThread(before, 20));
    }

    @Test
    void readsLimits() throws IOException {
        List<String> lines = List.of(
                "Limit                     Soft Limit           Hard Limit           Units     ",
                "Max processes             96135                96135                processes ",
                "Max open files            1024                 unlimited            files     ");
        assertEquals(new OpenFiles.Limit(1024L, null), OpenFiles.Limit.parse(lines));
        assertThrows(IOException.class, () -> OpenFiles.Limit.parse(lines.subList(0, 2)));
        assertThrows(IOException.class, () -> OpenFiles.Limit.parse(List.of("Max open files")));
        assertThrows(IOException.class, () -> OpenFiles.Limit.parse(List.of("Max open files some more files")));
        assertTrue(OpenFiles.count() > 2);
    }
}
