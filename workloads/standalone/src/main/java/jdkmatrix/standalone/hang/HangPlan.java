package jdkmatrix.standalone.hang;

import java.util.concurrent.TimeUnit;

/**
 * The parameters of the experiment.
 *
 * @param kind "virtual" or "platform"
 * @param count threads that want the lock
 * @param inside what all but the first of them hold meanwhile: "synchronized" or "lock"
 * @param holdMs how long each has the lock
 * @param patience threads count as hung when none has got the lock for this many times {@code holdMs}
 */
public record HangPlan(String kind, int count, String inside, int holdMs, int patience) {
    boolean virtual() {
        return kind.equals("virtual");
    }

    long patienceNs() {
        return TimeUnit.MILLISECONDS.toNanos((long) holdMs * patience);
    }
}
