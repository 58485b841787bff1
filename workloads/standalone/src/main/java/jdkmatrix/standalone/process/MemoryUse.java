package jdkmatrix.standalone.process;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The memory of this process at one moment.
 *
 * @param rssBytes from /proc/self/smaps_rollup; where the kernel does not show it, from /proc/self/status, which before
 *     Linux 6.2 lacks up to 64 pages of each thread (proc_pid_status(5)): all the stack of one that does little
 * @param pssBytes from /proc/self/smaps_rollup; null where the kernel does not show it
 */
public record MemoryUse(
        long virtBytes, long rssBytes, Long pssBytes, long heapCommittedBytes, long heapUsedBytes, int nativeThreads) {
    private static final Path ROLLUP = Path.of("/proc/self/smaps_rollup");
    private static final long KIB = 1024;
    private static final long LOOK_MS = 50;
    private static final int STILL_LOOKS = 5;
    private static final long STILL_BYTES = 256 * KIB;
    private static final long MOST_MS = 3_000;

    /** The cost of one of several threads, on average. */
    public record PerThread(
            double virtBytes, double rssBytes, Double pssBytes, double heapCommittedBytes, double nativeThreads) {}

    /** The most memory that this process ever had. */
    public record Peak(long virtBytes, long rssBytes) {
        public static Peak now() throws IOException {
            ProcStatus status = ProcStatus.now();
            return new Peak(status.virtPeakBytes(), status.rssPeakBytes());
        }

        /**
         * Returns at least what was there at one moment: the kernel's own peak lacks the same pages as its own RSS.
         *
         * @param seen null: nobody looked
         */
        public Peak atLeast(MemoryUse seen) {
            return seen == null
                    ? this
                    : new Peak(Math.max(virtBytes, seen.virtBytes()), Math.max(rssBytes, seen.rssBytes()));
        }
    }

    public static MemoryUse now() throws IOException {
        return of(ProcStatus.now(), readRollup(), ManagementFactory.getMemoryMXBean().getHeapMemoryUsage());
    }

    /** @param rollup its lines; none where the kernel does not show it */
    static MemoryUse of(ProcStatus status, List<String> rollup, MemoryUsage heap) throws IOException {
        boolean shown = !rollup.isEmpty();
        return new MemoryUse(
                status.virtBytes(),
                shown ? ProcStatus.kib(rollup, "Rss:") * KIB : status.rssBytes(),
                shown ? Long.valueOf(ProcStatus.kib(rollup, "Pss:") * KIB) : null,
                heap.getCommitted(),
                heap.getUsed(),
                status.threads());
    }

    /**
     * Reads the memory once RSS has held still for a while, or after some seconds: a collector gives memory back bit by
     * bit after it has ended, and a compiler frees its own when it is done.
     */
    public static MemoryUse whenStill() throws IOException, InterruptedException {
        long rssBytes = ProcStatus.now().rssBytes();
        int still = 0;
        for (long ms = 0; ms < MOST_MS && still < STILL_LOOKS; ms += LOOK_MS) {
            Thread.sleep(LOOK_MS);
            long nextBytes = ProcStatus.now().rssBytes();
            still = Math.abs(nextBytes - rssBytes) <= STILL_BYTES ? still + 1 : 0;
            rssBytes = nextBytes;
        }
        return now();
    }

    /** @param threads how many were started since {@code before}, at least 1 */
    public PerThread perThread(MemoryUse before, int threads) {
        return new PerThread(
                (double) (virtBytes - before.virtBytes) / threads,
                (double) (rssBytes - before.rssBytes) / threads,
                pssBytes == null || before.pssBytes == null ? null : (double) (pssBytes - before.pssBytes) / threads,
                (double) (heapCommittedBytes - before.heapCommittedBytes) / threads,
                (double) (nativeThreads - before.nativeThreads) / threads);
    }

    private static List<String> readRollup() {
        try {
            return Files.readAllLines(ROLLUP);
        } catch (IOException notShown) {
            return List.of();
        }
    }
}
