package jdkmatrix.loadgen;

import java.util.Arrays;
import jdkmatrix.common.histogram.Histograms;
import org.HdrHistogram.Histogram;

/**
 * The counts of some period: written by one thread, then handed over. Histograms are in nanoseconds.
 *
 * <p>Each request sent (one without an answer at the end of the lead counts as sent then) is exactly one of {@code
 * completed}, a READ, WRITE or TIMEOUT failure, or "outstanding when the phase ended", so {@code sent = completed +
 * failures + outstanding}.
 */
final class Tally {
    /** From the intended send time; empty in a closed loop. */
    final Histogram corrected = Histograms.create();
    /** From the real send time. */
    final Histogram uncorrected = Histograms.create();
    /** Real minus intended send time of requests whose connection was free when they were due. */
    final Histogram lateness = Histograms.create();

    long sent;
    long completed;
    long non2xx;
    /** Answered after the phase ended, during the drain: recorded with their latency, but not completed. */
    long answeredLate;
    /** Those of {@code answeredLate} whose status was not 2xx. */
    long lateNon2xx;
    /** Values of {@code uncorrected} and {@code corrected} that only say "at least". */
    long uncorrectedLowerBounds;
    long correctedLowerBounds;
    long reconnects;
    long bytesRead;
    private final long[] failures = new long[Failure.values().length];

    void count(Failure failure) {
        failures[failure.ordinal()]++;
    }

    long failures(Failure failure) {
        return failures[failure.ordinal()];
    }

    /** Returns the failures of requests, that is all but CONNECT. */
    long failedRequests() {
        return failures(Failure.READ) + failures(Failure.WRITE) + failures(Failure.TIMEOUT);
    }

    void reset() {
        corrected.reset();
        uncorrected.reset();
        lateness.reset();
        sent = completed = non2xx = answeredLate = lateNon2xx = 0;
        uncorrectedLowerBounds = correctedLowerBounds = reconnects = bytesRead = 0;
        Arrays.fill(failures, 0);
    }

    void add(Tally other) {
        corrected.add(other.corrected);
        uncorrected.add(other.uncorrected);
        lateness.add(other.lateness);
        sent += other.sent;
        completed += other.completed;
        non2xx += other.non2xx;
        answeredLate += other.answeredLate;
        lateNon2xx += other.lateNon2xx;
        uncorrectedLowerBounds += other.uncorrectedLowerBounds;
        correctedLowerBounds += other.correctedLowerBounds;
        reconnects += other.reconnects;
        bytesRead += other.bytesRead;
        for (int i = 0; i < failures.length; i++) {
            failures[i] += other.failures[i];
        }
    }
}
