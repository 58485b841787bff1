package jdkmatrix.standalone.burn;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import jdkmatrix.common.histogram.Distribution;
import jdkmatrix.common.histogram.Histograms;
import org.HdrHistogram.Histogram;

/** Overlays the parks of workers on the queue of tasks. */
final class ParkAnalysis {
    private static final long[] AT_LEAST_NS = {100_000, 1_000_000, 10_000_000};
    private static final double NS_PER_S = 1e9;
    private static final double NS_PER_US = 1e3;

    private final Steps queued;
    private final long fromNs;
    private final long toNs;

    private final Histogram parks = Histograms.create();
    private final Histogram stretches = Histograms.create();
    private final long[] atLeastCount = new long[AT_LEAST_NS.length];
    private final long[] atLeastNs = new long[AT_LEAST_NS.length];
    private long parkedNs;
    private long stretchedNs;
    private long longestNs;
    private ParkReport.Longest longest;

    /** @param queued tasks; both times are System.nanoTime, and what lies outside of them is left out */
    private ParkAnalysis(Steps queued, long fromNs, long toNs) {
        this.queued = queued;
        this.fromNs = fromNs;
        this.toNs = toNs;
    }

    /** @param workers how many there are; null: any number */
    static ParkReport of(ParkLog log, Steps queued, long fromNs, long toNs, Integer workers) {
        ParkAnalysis analysis = new ParkAnalysis(queued, fromNs, toNs);
        log.workers().forEach(analysis::take);
        return analysis.report(log, workers);
    }

    private void take(ParkLog.WorkerParks worker) {
        for (int park = 0; park < worker.fromNs().length; park++) {
            long beginNs = Math.max(fromNs, worker.fromNs()[park]);
            long endNs = Math.min(toNs, worker.toNs()[park]);
            if (beginNs < endNs) {
                parkedNs += endNs - beginNs;
                Histograms.record(parks, endNs - beginNs);
                queued.occupied(beginNs, endNs, (from, to, tasks) -> stretch(from, to, tasks, worker.threadId()));
            }
        }
    }

    private void stretch(long stretchFromNs, long stretchToNs, int tasks, long threadId) {
        long ns = stretchToNs - stretchFromNs;
        stretchedNs += ns;
        Histograms.record(stretches, ns);
        for (int i = 0; i < AT_LEAST_NS.length; i++) {
            if (ns >= AT_LEAST_NS[i]) {
                atLeastCount[i]++;
                atLeastNs[i] += ns;
            }
        }
        if (ns > longestNs) {
            longestNs = ns;
            longest = new ParkReport.Longest(ns / NS_PER_US, (stretchFromNs - fromNs) / NS_PER_S, tasks, threadId);
        }
    }

    private ParkReport report(ParkLog log, Integer workers) {
        List<ParkReport.AtLeast> atLeast = new ArrayList<>();
        for (int i = 0; i < AT_LEAST_NS.length; i++) {
            atLeast.add(new ParkReport.AtLeast(AT_LEAST_NS[i] / NS_PER_US, atLeastCount[i], atLeastNs[i] / NS_PER_S));
        }
        double idleNs = Steps.integralOfLesserNs(parked(log.workers()), queued, fromNs, toNs);
        return new ParkReport(
                "on",
                null,
                log.workers().size(),
                parkedNs / NS_PER_S,
                Distribution.of(parks),
                new ParkReport.WhileQueued(
                        stretches.getTotalCount(),
                        stretchedNs / NS_PER_S,
                        Distribution.of(stretches),
                        atLeast,
                        longest,
                        idleNs / NS_PER_S,
                        workers == null ? null : idleNs / ((double) (toNs - fromNs) * workers)),
                log.byBlocker(),
                new ParkReport.Clock(
                        log.clock().anchors(), log.clock().bracketNs() / NS_PER_US, log.clock().residualNs() / NS_PER_US),
                log.lostBytes());
    }

    /** Returns how many workers are parked, over time. */
    private static Steps parked(List<ParkLog.WorkerParks> workers) {
        return Steps.of(
                workers.stream().flatMapToLong(worker -> LongStream.of(worker.fromNs())).toArray(),
                workers.stream().flatMapToLong(worker -> LongStream.of(worker.toNs())).toArray());
    }
}
