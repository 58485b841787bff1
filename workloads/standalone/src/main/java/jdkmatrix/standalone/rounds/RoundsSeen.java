package jdkmatrix.standalone.rounds;

import java.util.Map;
import jdkmatrix.common.histogram.Distribution;

/**
 * What the measured time showed.
 *
 * @param stuck tasks that had not ended long after the time was over
 * @param durationS until the last round had ended, or what was asked for where it never did
 * @param cpuS of the process
 * @param cpuUsPerOperation null where nothing was done
 * @param allocatedBytesPerOperation by all threads; null where the JVM does not count, or nothing was done
 * @param waited null where the operation does not take it
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
        int parallelism,
        Map<String, String> about) {}
