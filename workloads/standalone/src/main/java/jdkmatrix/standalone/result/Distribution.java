package jdkmatrix.standalone.result;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * How times differ from each other.
 *
 * @param histogramNs HdrHistogram's V2 compressed encoding in base64, in nanoseconds
 */
public record Distribution(
        long count, double minUs, double meanUs, double maxUs, Map<String, Double> percentilesUs, String histogramNs) {
    private static final String[] PERCENTILES = {"50", "90", "99", "99.9", "99.99"};
    private static final long HIGHEST_NS = TimeUnit.HOURS.toNanos(1);
    private static final int DIGITS = 3;
    private static final double NS_PER_US = 1e3;

    /** Three digits, up to an hour; what is longer counts as an hour. */
    public static Histogram histogram() {
        return new Histogram(HIGHEST_NS, DIGITS);
    }

    /** The same for many threads. It never grows, so that no thread waits for another. */
    public static Histogram sharedHistogram() {
        return new ConcurrentHistogram(HIGHEST_NS, DIGITS);
    }

    /** Below 0 counts as 0. */
    public static void add(Histogram histogram, long ns) {
        histogram.recordValue(Math.clamp(ns, 0, HIGHEST_NS));
    }

    /** Null where nothing was recorded. */
    public static Distribution of(Histogram ns) {
        if (ns.getTotalCount() == 0) {
            return null;
        }
        Map<String, Double> percentilesUs = new LinkedHashMap<>();
        for (String percentile : PERCENTILES) {
            percentilesUs.put(percentile, ns.getValueAtPercentile(Double.parseDouble(percentile)) / NS_PER_US);
        }
        ByteBuffer buffer = ByteBuffer.allocate(ns.getNeededByteBufferCapacity());
        int length = ns.encodeIntoCompressedByteBuffer(buffer);
        return new Distribution(
                ns.getTotalCount(),
                ns.getMinValue() / NS_PER_US,
                ns.getMean() / NS_PER_US,
                ns.getMaxValue() / NS_PER_US,
                percentilesUs,
                Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length)));
    }
}
