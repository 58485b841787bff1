package jdkmatrix.common.histogram;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Histograms of times in nanoseconds: three significant digits, up to two hours. All have the same buckets, so that
 * those of one program can be merged with those of another.
 */
public final class Histograms {
    public static final long HIGHEST_NS = TimeUnit.HOURS.toNanos(2);
    private static final int DIGITS = 3;

    private Histograms() {}

    public static Histogram create() {
        return new Histogram(HIGHEST_NS, DIGITS);
    }

    /** Creates one for many threads. It never grows, so that no thread waits for another. */
    public static Histogram createShared() {
        return new ConcurrentHistogram(HIGHEST_NS, DIGITS);
    }

    /** Records a time; below 0 it counts as 0, above {@link #HIGHEST_NS} as that. */
    public static void record(Histogram histogram, long ns) {
        histogram.recordValue(Math.clamp(ns, 0, HIGHEST_NS));
    }

    /** Returns HdrHistogram's V2 compressed encoding in base64; null if nothing was recorded. */
    public static String encode(Histogram histogram) {
        if (histogram.getTotalCount() == 0) {
            return null;
        }
        ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        int length = histogram.encodeIntoCompressedByteBuffer(buffer);
        return Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length));
    }
}
