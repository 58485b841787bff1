package jdkmatrix.standalone.fanout;

import java.util.Map;
import jdkmatrix.common.histogram.Distribution;

/**
 * The figures of the requests.
 *
 * @param wallS from before the first thread was made to the end of the last request
 * @param idealS as {@link FanoutExpectation} computes it
 * @param overheadS wallS - idealS
 * @param latency of good answers, from the start of each request on its thread
 * @param sinceStart of good answers, from the start of all, including the wait for a thread or a permit
 * @param errors by kind
 * @param openFilesPeak sampled; {@code openFilesPeakIsLowerBound}: a sample was itself refused an open file
 * @param openFilesSoftLimit null: unlimited
 * @param nativeThreadsPeak of the whole process: shows threads that a client would hide
 */
public record FanoutSeen(
        double wallS,
        double idealS,
        double overheadS,
        long ok,
        long failed,
        Map<String, Long> errors,
        Distribution latency,
        Distribution sinceStart,
        long inFlightMost,
        int openFilesBefore,
        int openFilesPeak,
        boolean openFilesPeakIsLowerBound,
        Long openFilesSoftLimit,
        Long openFilesHardLimit,
        int nativeThreadsPeak) {}
