package jdkmatrix.common.histogram;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.Random;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class DistributionTest {
    @Test
    void nothing() {
        assertNull(Distribution.of(Histograms.create()));
        assertNull(Histograms.encode(Histograms.create()));
    }

    /** Compares with the smallest sorted value that at least that share of values does not exceed, to three digits. */
    @Test
    void percentilesAreThoseOfTheValues() throws DataFormatException {
        Random random = new Random(4);
        for (int round = 0; round < 20; round++) {
            long[] ns = new long[1 + random.nextInt(3_000)];
            Histogram histogram = round % 2 == 0 ? Histograms.create() : Histograms.createShared();
            for (int i = 0; i < ns.length; i++) {
                ns[i] = (long) Math.pow(10, random.nextDouble() * 10);
                Histograms.record(histogram, ns[i]);
            }
            Arrays.sort(ns);
            Distribution found = Distribution.of(histogram);
            assertEquals(ns.length, found.count());
            assertClose(ns[0], found.minUs());
            assertClose(ns[ns.length - 1], found.maxUs());
            found.percentilesUs().forEach((percentile, us) -> {
                // A little less, since a product such as 99.9 % of 1,000 may come out above the whole number.
                int rank = (int) Math.ceil(Double.parseDouble(percentile) / 100 * ns.length - 1e-6);
                assertClose(ns[Math.max(1, rank) - 1], us);
            });
            Histogram decoded = Histogram.decodeFromCompressedByteBuffer(
                    ByteBuffer.wrap(Base64.getDecoder().decode(found.histogramNs())), 0);
            assertEquals(histogram.getTotalCount(), decoded.getTotalCount());
            assertEquals(histogram.getValueAtPercentile(90), decoded.getValueAtPercentile(90));
        }
    }

    @Test
    void whatIsOutOfRangeStandsAtItsEnd() {
        Histogram histogram = Histograms.create();
        Histograms.record(histogram, -5);
        Histograms.record(histogram, Long.MAX_VALUE);
        Distribution found = Distribution.of(histogram);
        assertEquals(2, found.count());
        assertEquals(0, found.minUs());
        assertClose(7_200_000_000_000L, found.maxUs());
    }

    private static void assertClose(long ns, double us) {
        assertTrue(Math.abs(us * 1e3 - ns) <= 1 + ns * 0.002, () -> ns + " ns, found " + us + " us");
    }
}
