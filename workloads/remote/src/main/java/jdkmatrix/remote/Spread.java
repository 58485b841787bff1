package jdkmatrix.remote;

import java.util.Locale;

/** The distribution of delays; the mean is the same for all. */
enum Spread {
    FIXED,
    EXPONENTIAL,
    LOGNORMAL;

    /** Returns the name used in the query. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
