package jdkmatrix.remote;

import java.util.Locale;

/** What goes wrong on purpose. */
enum Fault {
    NONE,
    /** An answer, with status 500, after the delay. */
    STATUS_500,
    /** The connection is closed after the delay, without an answer. */
    CLOSE,
    /** No answer, and the connection stays open. */
    NEVER;

    /** As in the query and in the figures. */
    String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
