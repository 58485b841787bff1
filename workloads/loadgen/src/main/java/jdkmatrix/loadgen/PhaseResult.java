package jdkmatrix.loadgen;

/**
 * What one phase did.
 *
 * @param due slots of the schedule within the duration; 0 in a closed loop
 * @param lead of all event loops, of the requests that were over when it was; empty where there was none
 * @param total of all event loops after the lead, drain included
 * @param cpuS CPU time of the whole process while requests were sent, after the lead
 * @param busiestLoopCpuS CPU time, meanwhile, of the event loop that used the most
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

    /** Due and not sent by the end of the phase. */
    long unsent() {
        return due - total.sent;
    }

    /** Sent, and neither answered nor failed by the end of the phase. */
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
