package jdkmatrix.remote;

import java.util.Locale;

/** How delays differ from each other; their mean is the same. */
enum Spread {
    FIXED,
    EXPONENTIAL,
    LOGNORMAL;

    /** As in the query. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
