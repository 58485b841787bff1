package jdkmatrix.loadgen;

/** The times when the requests of a load are due, counted over all connections. */
interface Slots {
    /**
     * Returns when slot 0, 1, … is due, in nanoseconds after the start; never decreases from one slot to the next.
     * Slots that do not come up before the load ends are due at its end or later.
     */
    long offsetNs(long slot);
}
