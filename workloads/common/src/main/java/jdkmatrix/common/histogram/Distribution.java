package jdkmatrix.common.histogram;

import java.util.LinkedHashMap;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * The distribution of times.
 *
 * @param histogramNs as returned by {@link Histograms#encode}
 */
public record Distribution(
        long count, double minUs, double meanUs, double maxUs, Map<String, Double> percentilesUs, String histogramNs) {
    private static final String[] PERCENTILES = {"50", "90", "99", "99.9", "99.99"};
    private static final double NS_PER_US = 1e3;

    /** Returns null if nothing was recorded. */
    public static Distribution of(Histogram ns) {
        if (ns.getTotalCount() == 0) {
            return null;
        }
        Map<String, Double> percentilesUs = new LinkedHashMap<>();
        for (String percentile : PERCENTILES) {
            percentilesUs.put(percentile, ns.getValueAtPercentile(Double.parseDouble(percentile)) / NS_PER_US);
        }
        return new Distribution(
                ns.getTotalCount(),
                ns.getMinValue() / NS_PER_US,
                ns.getMean() / NS_PER_US,
                ns.getMaxValue() / NS_PER_US,
                percentilesUs,
                Histograms.encode(ns));
    }
}
