package jdkmatrix.loadgen;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import jdkmatrix.common.command.Program;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/**
 * HdrHistogram's standard interval log (.hlog): one line per interval and per tag, "corrected" (open loop only) and
 * "uncorrected", in nanoseconds. Its last lines hold what came in or was given up after the end of the phase, so that
 * all lines together make up the phase's histograms.
 */
final class IntervalLog implements Progress, AutoCloseable {
    /** The unit of the log's own column of maxima: milliseconds. */
    private static final double MAX_UNIT_NS = 1e6;

    private final PrintStream file;
    private final HistogramLogWriter log;
    private final boolean scheduled;
    private final String comment;

    IntervalLog(Path path, Phase phase, String url) throws IOException {
        file = new PrintStream(Files.newOutputStream(path), false, StandardCharsets.UTF_8);
        log = new HistogramLogWriter(file);
        scheduled = phase.scheduled();
        comment = "loadgen %s, phase %s, %s, %s; values in ns, Interval_Max in ms"
                .formatted(Program.version(), phase.label(), Summary.describe(phase.load()), url);
    }

    @Override
    public void started(long startNs) {
        log.outputComment("[" + comment + "]");
        log.outputLogFormatVersion();
        log.outputStartTime(Instant.now().toEpochMilli() + (startNs - System.nanoTime()) / 1_000_000);
        log.outputLegend();
    }

    @Override
    public void interval(double fromS, double toS, Tally tally) {
        if (scheduled) {
            write(fromS, toS, tally.corrected, "corrected");
        }
        write(fromS, toS, tally.uncorrected, "uncorrected");
    }

    @Override
    public void drained(double fromS, double toS, Tally tally) {
        if (tally.corrected.getTotalCount() + tally.uncorrected.getTotalCount() > 0) {
            interval(fromS, toS, tally);
        }
    }

    @Override
    public void close() throws IOException {
        file.close();
        if (file.checkError()) {
            throw new IOException("the interval log could not be written");
        }
    }

    private void write(double fromS, double toS, Histogram histogram, String tag) {
        histogram.setTag(tag);
        log.outputIntervalHistogram(fromS, toS, histogram, MAX_UNIT_NS);
    }
}
