package jdkmatrix.standalone.hang;

import java.util.List;

/**
 * The fate of the threads once the lock was free.
 *
 * @param wentOn threads that got the lock, without help
 * @param wentOnShare of all threads, 0 to 1
 * @param untilAllMs time until the last of them had had the lock; null where they hung
 * @param standstillMs the longest time in which none got the lock
 * @param parallelism of the scheduler; null with platform threads
 * @param hung null where they did not
 */
public record HangSeen(
        int threads,
        int wentOn,
        double wentOnShare,
        Double untilAllMs,
        double standstillMs,
        Integer parallelism,
        Hung hung) {
    /**
     * @param lockFree whether nobody had the lock
     * @param waiting threads that waited for it
     * @param wentOnAfterInterrupt how many more got the lock once one that was inside was interrupted, which gives its
     *     carrier back
     * @param stacks where the threads were, most frequent first
     */
    public record Hung(boolean lockFree, int waiting, int wentOnAfterInterrupt, List<Stack> stacks) {}

    /** @param frames from the top; empty for a thread that never had a carrier */
    public record Stack(int threads, List<String> frames) {}
}
