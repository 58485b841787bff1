package jdkmatrix.standalone.burn;

import jdkmatrix.standalone.result.Outcome;

/**
 * A time under load that is over and drained.
 *
 * @param rate null in a closed loop
 * @param endNs earlier than asked for where the executor refused a task
 * @param drainedNs when waiting for unfinished tasks ended
 * @param due tasks that should have been submitted; in a closed loop, as many as were
 * @param cpuNs CPU time of the process from start to end
 */
record Period(
        TaskLog log,
        ConstantRate rate,
        long startNs,
        long endNs,
        long drainedNs,
        long due,
        long cpuNs,
        Outcome outcome) {
    /** Returns when the task should have been submitted; in a closed loop, when it was. */
    long intendedNs(long task) {
        return rate == null ? log.submittedNs(Math.toIntExact(task)) : startNs + rate.offsetNs(task);
    }

    double durationS() {
        return (endNs - startNs) / 1e9;
    }
}
