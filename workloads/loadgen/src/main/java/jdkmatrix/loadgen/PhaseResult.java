package jdkmatrix.loadgen;

/**
 * The result of one phase.
 *
 * @param due slots of the schedule within the duration; 0 in a closed loop
 * @param lead of all event loops, the requests that were over when it ended; empty if there was none
 * @param total of all event loops after the lead, including the drain
 * @param cpuS CPU time of the whole process while requests were sent, after the lead
 * @param busiestLoopCpuS CPU time of the event loop that used the most meanwhile
 */
record PhaseResult(
        Phase phase,
        long startNs,
        long endNs,
        long due,
        Tally lead,
        Tally total,
        double cpuS,
        double busiestLoopCpuS) {
    boolean scheduled() {
        return phase.scheduled();
    }

    /** Returns how many requests were due but not sent by the end of the phase. */
    long unsent() {
        return due - total.sent;
    }

    /** Returns how many requests were sent but had neither been answered nor failed by the end of the phase. */
    long outstanding() {
        return total.sent - total.completed - total.failedRequests();
    }

    double durationS() {
        return phase.durationNs() / 1e9;
    }

    double throughputRps() {
        return total.completed / durationS();
    }
}
