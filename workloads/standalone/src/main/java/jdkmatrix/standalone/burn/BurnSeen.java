package jdkmatrix.standalone.burn;

import jdkmatrix.common.histogram.Distribution;
import jdkmatrix.common.histogram.Histograms;
import org.HdrHistogram.Histogram;

/**
 * The figures of the measured time.
 *
 * @param calibrationSpread (max - min) / median of the calibration; null where the calibration was given
 * @param warmupUnfinished tasks of the warm-up that were abandoned when its drain was over
 * @param due tasks that should have been submitted
 * @param completed ended within the measured time
 * @param completedLate ended while draining, or after that while the executor ended
 * @param unfinished submitted but abandoned
 * @param cpuShare CPU time as a share of all CPUs that the JVM may use
 * @param latencyToStart from the intended submission to the start of a task, for those that started
 * @param latencyToEnd from the intended submission to the end; tasks that never ended, or were never submitted, count
 *     with the time until draining was over: {@code lowerBounds} of them
 * @param submitterLateness from the intended submission to the real one; null in a closed loop
 * @param tasksQueuedMax tasks submitted but not started, the most at once
 */
public record BurnSeen(
        long roundsPerTask,
        double roundsPerUs,
        Double calibrationSpread,
        double burnUs,
        double durationS,
        long warmupUnfinished,
        long due,
        long submitted,
        long completed,
        long completedLate,
        long unfinished,
        double throughputPerS,
        double cpuS,
        int cpus,
        double cpuShare,
        Distribution latencyToStart,
        Distribution latencyToEnd,
        long lowerBounds,
        Distribution submitterLateness,
        int tasksQueuedMax,
        double tasksQueuedMean,
        Integer workers,
        ParkReport parks) {
    /** The work of a task. */
    record Work(long rounds, double roundsPerUs, Double calibrationSpread) {
        double burnUs() {
            return rounds / roundsPerUs;
        }
    }

    /** @param queued tasks of the period */
    static BurnSeen of(
            Period period, Work work, long warmupUnfinished, int cpus, Integer workers, Steps queued, ParkReport parks) {
        Times times = Times.of(period);
        double cpuS = period.cpuNs() / 1e9;
        return new BurnSeen(
                work.rounds(),
                work.roundsPerUs(),
                work.calibrationSpread(),
                work.burnUs(),
                period.durationS(),
                warmupUnfinished,
                period.due(),
                period.log().size(),
                times.completed,
                times.completedLate,
                period.log().size() - times.completed - times.completedLate,
                times.completed / period.durationS(),
                cpuS,
                cpus,
                cpuS / (period.durationS() * cpus),
                Distribution.of(times.toStart),
                Distribution.of(times.toEnd),
                times.lowerBounds,
                period.rate() == null ? null : Distribution.of(times.lateness),
                queued.most(period.startNs(), period.endNs()),
                queued.integralNs(period.startNs(), period.endNs()) / (period.endNs() - period.startNs()),
                workers,
                parks);
    }

    /** Sorts the tasks of a period. */
    private static final class Times {
        private final Histogram toStart = Histograms.create();
        private final Histogram toEnd = Histograms.create();
        private final Histogram lateness = Histograms.create();
        private long completed;
        private long completedLate;
        private long lowerBounds;

        static Times of(Period period) {
            Times times = new Times();
            TaskLog log = period.log();
            for (int task = 0; task < log.size(); task++) {
                times.take(
                        period, period.intendedNs(task), log.submittedNs(task), log.startedNs(task), log.endedNs(task));
            }
            for (long task = log.size(); task < period.due(); task++) {
                times.bound(period, period.intendedNs(task));
            }
            return times;
        }

        private void take(Period period, long intendedNs, long submittedNs, long startedNs, long endedNs) {
            Histograms.record(lateness, submittedNs - intendedNs);
            if (startedNs != 0) {
                Histograms.record(toStart, startedNs - intendedNs);
            }
            if (endedNs == 0) {
                bound(period, intendedNs);
                return;
            }
            Histograms.record(toEnd, endedNs - intendedNs);
            if (endedNs < period.endNs()) {
                completed++;
            } else {
                completedLate++;
            }
        }

        private void bound(Period period, long intendedNs) {
            lowerBounds++;
            Histograms.record(toEnd, period.drainedNs() - intendedNs);
        }
    }
}
