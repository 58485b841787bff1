package jdkmatrix.standalone.burn;

import java.util.List;
import java.util.Map;
import jdkmatrix.common.histogram.Distribution;

/**
 * How long workers were parked, and how long of that while tasks were queued. A park lasts until its thread runs again,
 * so that it includes the kernel's delay in waking it.
 *
 * @param probe "on", "off", or "unavailable" with a reason
 * @param workersParked how many threads parked at all
 * @param parksByBlocker by the class that was waited for, over the whole recording, drain and end included
 * @param lostBytes above 0: parks are missing
 */
public record ParkReport(
        String probe,
        String reason,
        Integer workersParked,
        Double parkedS,
        Distribution park,
        WhileQueued parkedWhileQueued,
        Map<String, Long> parksByBlocker,
        Clock clock,
        Long lostBytes) {
    /**
     * A stretch is a time in which, without a break, one worker was parked and at least one task was queued.
     *
     * @param totalS the total length of all workers' stretches
     * @param longest null where there is none
     * @param idleWorkerS the integral over time of the lesser of parked workers and queued tasks: work that could have been
     *     done, had there been a CPU for it. Less than {@code totalS} where one task was queued and several workers were
     *     parked. With more workers than CPUs, most of it is time in which a worker that was woken waited for a CPU
     * @param idleShare of the time of all workers; null where their number is not fixed
     */
    public record WhileQueued(
            long count,
            double totalS,
            Distribution stretch,
            List<AtLeast> atLeast,
            Longest longest,
            double idleWorkerS,
            Double idleShare) {}

    /** Stretches of at least this length. */
    public record AtLeast(double atLeastUs, long count, double totalS) {}

    /**
     * @param sinceStartS when it began, from the start of the measured time
     * @param tasksQueued the most at once in it
     */
    public record Longest(double durationUs, double sinceStartS, int tasksQueued, long threadId) {}

    /** The accuracy with which the recorder's times could be mapped; see {@link ClockMap}. */
    public record Clock(int anchors, double bracketUs, double residualUs) {}

    static ParkReport off() {
        return new ParkReport("off", null, null, null, null, null, null, null, null);
    }

    static ParkReport unavailable(String reason) {
        return new ParkReport("unavailable", reason, null, null, null, null, null, null, null);
    }
}
