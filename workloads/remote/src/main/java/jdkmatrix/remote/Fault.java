package jdkmatrix.remote;

import java.util.Locale;

/** Faults that are injected on purpose. */
enum Fault {
    NONE,
    /** Answers with status 500 after the delay. */
    STATUS_500,
    /** Closes the connection after the delay, without an answer. */
    CLOSE,
    /** Never answers, and leaves the connection open. */
    NEVER;

    /** Returns the name used in the query and in the figures. */
    String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
