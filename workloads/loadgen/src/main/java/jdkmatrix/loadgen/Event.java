package jdkmatrix.loadgen;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonTypeInfo;

/** The output of a session, one JSON object per line. Fields that do not apply to a load are null. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "event")
@JsonSubTypes({
    @JsonSubTypes.Type(value = Event.Ready.class, name = "ready"),
    @JsonSubTypes.Type(value = Event.Started.class, name = "started"),
    @JsonSubTypes.Type(value = Event.Interval.class, name = "interval"),
    @JsonSubTypes.Type(value = Event.Finished.class, name = "finished"),
    @JsonSubTypes.Type(value = Event.Failed.class, name = "error")
})
sealed interface Event {
    /** The session is ready for commands. */
    record Ready(String version, String netty, String javaVersion, String transport) implements Event {}

    /** Counting starts at this System.nanoTime: in a few milliseconds, or when the lead is over. */
    record Started(String label, long monotonicNs) implements Event {}

    /** One interval of the phase, usually a second; {@code due} are its slots, {@code sent} may be of earlier ones. */
    record Interval(
            double tS,
            Long due,
            long sent,
            long completed,
            @JsonProperty("non_2xx") long non2xx,
            Errors errors,
            Double p50Us,
            Double p99Us,
            Double maxUs)
            implements Event {}

    /**
     * Histograms are HdrHistogram's V2 compressed encoding in base64, in nanoseconds; null if nothing was recorded.
     * Of the reported latency (corrected in an open loop), {@code lowerBounds} values only say "at least".
     */
    record Finished(
            String label,
            long startedMonotonicNs,
            long endedMonotonicNs,
            double durationS,
            Lead lead,
            Long due,
            long sent,
            Long unsent,
            long outstanding,
            long answeredLate,
            @JsonProperty("late_non_2xx") long lateNon2xx,
            long completed,
            @JsonProperty("non_2xx") long non2xx,
            Errors errors,
            long reconnects,
            long bytesRead,
            double throughputRps,
            long lowerBounds,
            String corrected,
            String uncorrected,
            String sendLateness,
            double cpuS,
            double busiestLoopCpuS,
            String hlog)
            implements Event {}

    /** The command or the phase failed: "bad-command" and "refused" leave the session usable. */
    record Failed(String code, String message) implements Event {}

    /** The load before counting began: the requests that were over by then. */
    record Lead(
            double durationS, long sent, long completed, @JsonProperty("non_2xx") long non2xx, Errors errors) {
        static Lead of(long ns, Tally tally) {
            return new Lead(ns / 1e9, tally.sent, tally.completed, tally.non2xx, Errors.of(tally));
        }
    }

    record Errors(long connect, long read, long write, long timeout) {
        static Errors of(Tally tally) {
            return new Errors(
                    tally.failures(Failure.CONNECT),
                    tally.failures(Failure.READ),
                    tally.failures(Failure.WRITE),
                    tally.failures(Failure.TIMEOUT));
        }
    }
}
