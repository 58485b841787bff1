package jdkmatrix.remote;

import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * How late answers were.
 *
 * @param histogram HdrHistogram's V2 compressed encoding in base64, in nanoseconds
 */
record Lateness(
        long count, double minUs, double meanUs, double maxUs, Map<String, Double> percentilesUs, String histogram) {
    private static final String[] PERCENTILES = {"50", "90", "99", "99.9", "99.99"};
    private static final double NS_PER_US = 1e3;

    /** Null where nothing was recorded. */
    static Lateness of(Histogram ns) {
        if (ns.getTotalCount() == 0) {
            return null;
        }
        Map<String, Double> percentilesUs = new LinkedHashMap<>();
        for (String percentile : PERCENTILES) {
            percentilesUs.put(percentile, ns.getValueAtPercentile(Double.parseDouble(percentile)) / NS_PER_US);
        }
        ByteBuffer buffer = ByteBuffer.allocate(ns.getNeededByteBufferCapacity());
        int length = ns.encodeIntoCompressedByteBuffer(buffer);
        return new Lateness(
                ns.getTotalCount(),
                ns.getMinValue() / NS_PER_US,
                ns.getMean() / NS_PER_US,
                ns.getMaxValue() / NS_PER_US,
                percentilesUs,
                Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length)));
    }

    JsonObject toJson() {
        JsonObject percentiles = new JsonObject();
        percentilesUs.forEach(percentiles::put);
        return new JsonObject()
                .put("count", count)
                .put("min_us", minUs)
                .put("mean_us", meanUs)
                .put("max_us", maxUs)
                .put("percentiles_us", percentiles)
                .put("histogram", histogram);
    }
}
