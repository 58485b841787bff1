package jdkmatrix.loadgen;

import java.util.regex.Pattern;

/**
 * One stretch of load.
 *
 * @param label names the phase's files
 * @param leadNs how long the load runs before the phase begins, in nanoseconds: ten times as long as an answer takes, or longer
 * @param durationNs how long requests are sent after that, in nanoseconds
 * @param intervalNs length of the intervals that are reported separately; the last may be shorter
 */
record Phase(String label, Load load, long leadNs, long durationNs, long intervalNs) {
    static final double MAX_DURATION_S = 86_400;
    static final double INTERVAL_S = 1;
    private static final int ANSWERS_IN_LEAD = 10;
    private static final double INTERVAL_S_MIN = 0.1;
    private static final Pattern LABEL = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");

    Phase {
        if (leadNs > 0 && !(load instanceof Load.Saturate)) {
            throw new IllegalArgumentException("lead_s is for kind \"saturate\" alone");
        }
        if (label == null || !LABEL.matcher(label).matches()) {
            throw new IllegalArgumentException(
                    "label = \"%s\": 1 to 100 letters, digits, '.', '_' or '-' are needed".formatted(label));
        }
        if (load instanceof Load.Ramp ramp && ramp.durationNs() != durationNs) {
            throw new IllegalArgumentException("duration_s = %s: the last point of the ramp is at %s s"
                    .formatted(durationNs / 1e9, ramp.durationNs() / 1e9));
        }
        if (load instanceof Load.Join join && join.joinNs() > durationNs) {
            throw new IllegalArgumentException("join_s = %s: at most duration_s = %s is allowed"
                    .formatted(join.joinNs() / 1e9, durationNs / 1e9));
        }
    }

    static Phase of(String label, Load load, double durationS) {
        return of(label, load, 0, durationS, INTERVAL_S);
    }

    static Phase of(String label, Load load, double leadS, double durationS, double intervalS) {
        if (!(leadS >= 0 && leadS <= MAX_DURATION_S)) {
            throw new IllegalArgumentException(
                    "lead_s = %s: 0 to %.0f is allowed".formatted(leadS, MAX_DURATION_S));
        }
        if (!(durationS > 0 && durationS <= MAX_DURATION_S)) {
            throw new IllegalArgumentException(
                    "duration_s = %s: above 0 and at most %.0f is allowed".formatted(durationS, MAX_DURATION_S));
        }
        if (!(intervalS >= INTERVAL_S_MIN && intervalS <= MAX_DURATION_S)) {
            throw new IllegalArgumentException(
                    "interval_s = %s: %.1f to %.0f is allowed".formatted(intervalS, INTERVAL_S_MIN, MAX_DURATION_S));
        }
        return new Phase(label, load, toNs(leadS), Math.max(1, toNs(durationS)), toNs(intervalS));
    }

    static long toNs(double seconds) {
        return Math.round(seconds * 1e9);
    }

    /**
     * When the connections of a closed loop join: with a lead, over the tenth of it that an answer takes. If they all
     * began at once, answers that take equally long would come in waves, and a window would count whole waves. Those of a
     * server with fewer threads than connections do so still.
     */
    Load.Joining joining(Load.Joining closed) {
        return leadNs > 0 ? new Load.Join(closed.connections(), leadNs / ANSWERS_IN_LEAD) : closed;
    }

    boolean scheduled() {
        return load instanceof Load.Scheduled;
    }
}
