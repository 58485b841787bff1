package jdkmatrix.loadgen;

/** Hears of a phase while it runs; called by the thread that runs it. */
interface Progress {
    /** @param startNs when what is counted begins, as System.nanoTime: in a few milliseconds, or after the lead */
    void started(long startNs);

    /**
     * An interval of the phase is over, or, at its end, what is left of one. Times count from the start of the phase; the
     * tally is valid during the call only.
     */
    void interval(double fromS, double toS, Tally tally);

    /** What came in, or was given up, after the end of the phase. */
    void drained(double fromS, double toS, Tally tally);
}
