package jdkmatrix.remote;

import io.vertx.core.json.JsonObject;
import java.util.Map;
import jdkmatrix.common.histogram.Distribution;

/**
 * The figures of a period.
 *
 * @param answered requests answered with status 200, as ordered
 * @param inFlight requests received but not answered, now
 * @param abandoned requests whose clients closed the connection before the answer
 * @param refused bad requests, which got status 400
 * @param faults ordered faults, by kind
 * @param cpuS CPU time of the whole process in this period
 * @param sinceMonotonicNs when the period began, by System.nanoTime (CLOCK_MONOTONIC)
 * @param lateness of answers; null where nothing was recorded
 * @param loopLateness lateness of each event loop's own timer; see {@link Ledger}
 */
record Stats(
        long answered,
        long inFlight,
        long inFlightPeak,
        long abandoned,
        long refused,
        Map<Fault, Long> faults,
        double cpuS,
        long sinceMonotonicNs,
        long nowMonotonicNs,
        Distribution lateness,
        Distribution loopLateness) {
    JsonObject toJson() {
        JsonObject faultsByWord = new JsonObject();
        faults.forEach((fault, count) -> faultsByWord.put(fault.word(), count));
        return new JsonObject()
                .put("answered", answered)
                .put("in_flight", inFlight)
                .put("in_flight_peak", inFlightPeak)
                .put("abandoned", abandoned)
                .put("refused", refused)
                .put("faults", faultsByWord)
                .put("cpu_s", cpuS)
                .put("since_monotonic_ns", sinceMonotonicNs)
                .put("now_monotonic_ns", nowMonotonicNs)
                .put("lateness", toJson(lateness))
                .put("loop_lateness", toJson(loopLateness));
    }

    private static JsonObject toJson(Distribution lateness) {
        if (lateness == null) {
            return null;
        }
        JsonObject percentiles = new JsonObject();
        lateness.percentilesUs().forEach(percentiles::put);
        return new JsonObject()
                .put("count", lateness.count())
                .put("min_us", lateness.minUs())
                .put("mean_us", lateness.meanUs())
                .put("max_us", lateness.maxUs())
                .put("percentiles_us", percentiles)
                .put("histogram", lateness.histogramNs());
    }
}
