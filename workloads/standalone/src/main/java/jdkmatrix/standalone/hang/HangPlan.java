package jdkmatrix.standalone.hang;

import java.util.concurrent.TimeUnit;

/**
 * What was asked for.
 *
 * @param kind "virtual" or "platform"
 * @param count threads that want the lock
 * @param inside what all but the first of them are inside meanwhile: "synchronized" or "lock"
 * @param holdMs for how long each has the lock
 * @param patience they hang when none has come to have the lock for so many times {@code holdMs}
 */
public record HangPlan(String kind, int count, String inside, int holdMs, int patience) {
    boolean virtual() {
        return kind.equals("virtual");
    }

    long patienceNs() {
        return TimeUnit.MILLISECONDS.toNanos((long) holdMs * patience);
    }
}
