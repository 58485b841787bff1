package jdkmatrix.standalone.rounds;

import java.util.Map;
import jdkmatrix.common.histogram.Distribution;

/**
 * The figures of the measured time.
 *
 * @param rounds including the one that was under way when the time began
 * @param stuck tasks that had not ended long after the time was over
 * @param cpuS CPU time of the process
 * @param cpuUsPerOperation null where nothing was done
 * @param allocatedBytesPerOperation by all threads; null where the JVM does not count, or nothing was done
 * @param waited by all operations, or by one in a few; null where the operation does not record it
 * @param lowerBounds how many of these had not ended with the time, each with what had passed of it
 * @param parallelism of the scheduler of virtual threads
 * @param about as the operation says
 */
public record RoundsSeen(
        long rounds,
        long stuck,
        long operations,
        double durationS,
        double throughputPerS,
        double cpuS,
        Double cpuUsPerOperation,
        Double allocatedBytesPerOperation,
        Distribution waited,
        long lowerBounds,
        int parallelism,
        Map<String, String> about) {}
