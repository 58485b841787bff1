package jdkmatrix.loadgen;

/** Callbacks for a phase while it runs, called by the thread that runs it. */
interface Progress {
    /** @param startNs when counting begins, as System.nanoTime: in a few milliseconds, or after the lead */
    void started(long startNs);

    /**
     * Reports an interval of the phase that is over; the last one may be shorter. Times count from the start of the
     * phase; the tally is valid during the call only.
     */
    void interval(double fromS, double toS, Tally tally);

    /** Reports what came in or was given up after the end of the phase. */
    void drained(double fromS, double toS, Tally tally);
}
