package jdkmatrix.loadgen;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import jdkmatrix.common.histogram.Histograms;
import org.HdrHistogram.Histogram;

/** Reads commands from JSON and writes results to JSON. */
final class Wire {
    private static final ObjectMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();
    private static final double NS_PER_US = 1e3;

    private Wire() {}

    /** @throws IllegalArgumentException saying what is wrong with the command */
    static Command parse(String line) {
        try {
            Command command = JSON.readValue(line, Command.class);
            if (command == null) {
                throw new IllegalArgumentException("a JSON object is needed");
            }
            return command;
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e.getOriginalMessage(), e);
        }
    }

    static String write(Event event) {
        try {
            return JSON.writeValueAsString(event);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    /** @param due slots due in this interval; null in a closed loop */
    static Event.Interval interval(double toS, Long due, Tally tally) {
        Histogram shown = due == null ? tally.uncorrected : tally.corrected;
        boolean any = shown.getTotalCount() > 0;
        return new Event.Interval(
                toS,
                due,
                tally.sent,
                tally.completed,
                tally.non2xx,
                Event.Errors.of(tally),
                any ? shown.getValueAtPercentile(50) / NS_PER_US : null,
                any ? shown.getValueAtPercentile(99) / NS_PER_US : null,
                any ? shown.getMaxValue() / NS_PER_US : null);
    }

    static Event.Finished finished(PhaseResult result, String hlog) {
        Phase phase = result.phase();
        Tally total = result.total();
        boolean scheduled = result.scheduled();
        return new Event.Finished(
                phase.label(),
                result.startNs(),
                result.endNs(),
                result.durationS(),
                phase.leadNs() > 0 ? Event.Lead.of(phase.leadNs(), result.lead()) : null,
                scheduled ? result.due() : null,
                total.sent,
                scheduled ? result.unsent() : null,
                result.outstanding(),
                total.answeredLate,
                total.lateNon2xx,
                total.completed,
                total.non2xx,
                Event.Errors.of(total),
                total.reconnects,
                total.bytesRead,
                result.throughputRps(),
                scheduled ? total.correctedLowerBounds : total.uncorrectedLowerBounds,
                Histograms.encode(total.corrected),
                Histograms.encode(total.uncorrected),
                Histograms.encode(total.lateness),
                result.cpuS(),
                result.busiestLoopCpuS(),
                hlog);
    }
}
