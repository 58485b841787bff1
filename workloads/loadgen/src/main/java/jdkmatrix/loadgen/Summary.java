package jdkmatrix.loadgen;

import java.util.Locale;
import org.HdrHistogram.Histogram;

/** A result in words, for a terminal. */
final class Summary {
    private static final double[] PERCENTILES = {50, 75, 90, 95, 99, 99.9, 99.99, 100};
    private static final double NS_PER_MS = 1e6;

    private Summary() {}

    static String of(PhaseResult result, String url) {
        Tally total = result.total();
        StringBuilder text = new StringBuilder();
        line(text, "%s  %s for %.3f s", url, describe(result.phase().load()), result.durationS());
        line(text, "");
        line(text, "%,.1f requests/s answered, %,d in all, %,d bytes read", result.throughputRps(), total.completed, total.bytesRead);
        if (result.scheduled()) {
            line(text, "due %,d, sent %,d, unsent %,d", result.due(), total.sent, result.unsent());
        } else {
            line(text, "sent %,d", total.sent);
        }
        line(text, "outstanding at the end %,d, of these answered late %,d", result.outstanding(), total.answeredLate);
        line(
                text,
                "non-2xx %,d; errors: connect %,d, read %,d, write %,d, timeout %,d; reconnects %,d",
                total.non2xx,
                total.failures(Failure.CONNECT),
                total.failures(Failure.READ),
                total.failures(Failure.WRITE),
                total.failures(Failure.TIMEOUT),
                total.reconnects);
        line(text, "");
        table(text, result);
        lowerBounds(text, result);
        line(text, "");
        line(
                text,
                "the driver itself: %.2f s of CPU (%.0f %% of one; its busiest event loop %.0f %%), %.2f s per 100,000 requests",
                result.cpuS(),
                100 * result.cpuS() / result.durationS(),
                100 * result.busiestLoopCpuS() / result.durationS(),
                total.completed == 0 ? Double.NaN : result.cpuS() * 100_000 / total.completed);
        return text.toString();
    }

    private static void table(StringBuilder text, PhaseResult result) {
        Tally total = result.total();
        if (!result.scheduled()) {
            line(text, "%10s %14s", "percentile", "latency ms");
            for (double percentile : PERCENTILES) {
                line(text, "%10s %14s", name(percentile), ms(total.uncorrected, percentile));
            }
            return;
        }
        line(text, "%10s %14s %14s %14s", "percentile", "corrected ms", "uncorrected ms", "sent late ms");
        for (double percentile : PERCENTILES) {
            line(
                    text,
                    "%10s %14s %14s %14s",
                    name(percentile),
                    ms(total.corrected, percentile),
                    ms(total.uncorrected, percentile),
                    ms(total.lateness, percentile));
        }
        line(text, "corrected: from when a request was due; sent late: the driver's own delay, connection free");
    }

    private static void lowerBounds(StringBuilder text, PhaseResult result) {
        Tally total = result.total();
        long count = result.scheduled() ? total.correctedLowerBounds : total.uncorrectedLowerBounds;
        if (count > 0) {
            line(
                    text,
                    "%,d of %,d requests had no answer and stand in the table with the time they had waited",
                    count,
                    result.scheduled() ? result.due() : total.sent);
        }
    }

    static String describe(Load load) {
        return switch (load) {
            case Load.Rate rate -> format("%,.1f requests/s over %,d connections", rate.rps(), rate.connections());
            case Load.Ramp ramp -> format(
                    "a ramp of %,d points up to %,.1f requests/s over %,d connections",
                    ramp.points().size(),
                    ramp.points().stream().mapToDouble(Load.Ramp.Point::rateRps).max().orElseThrow(),
                    ramp.connections());
            case Load.Joining loop -> format("closed loop over %,d connections", loop.connections());
        };
    }

    private static String name(double percentile) {
        if (percentile == 100) {
            return "max";
        }
        return percentile == Math.rint(percentile) ? "p%.0f".formatted(percentile) : "p" + percentile;
    }

    private static String ms(Histogram histogram, double percentile) {
        if (histogram.getTotalCount() == 0) {
            return "-";
        }
        return format("%.3f", histogram.getValueAtPercentile(percentile) / NS_PER_MS);
    }

    private static void line(StringBuilder text, String format, Object... values) {
        text.append(format(format, values)).append('\n');
    }

    private static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
