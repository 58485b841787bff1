package jdkmatrix.standalone.hang;

import java.util.List;

/**
 * What became of the threads once the lock was free.
 *
 * @param wentOn threads that came to have the lock, with no help
 * @param wentOnShare of all threads, 0 to 1
 * @param untilAllMs until the last of them had had it; null where they hung
 * @param standstillMs the longest time in which none came to have it
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
     * @param wentOnAfterInterrupt how many more came to have it once one that was inside was interrupted, which gives its
     *     carrier back
     * @param stacks where the threads were, the most frequent first
     */
    public record Hung(boolean lockFree, int waiting, int wentOnAfterInterrupt, List<Stack> stacks) {}

    /** @param frames from the top; none of a thread that never had a carrier */
    public record Stack(int threads, List<String> frames) {}
}
