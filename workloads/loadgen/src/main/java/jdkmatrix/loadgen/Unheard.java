package jdkmatrix.loadgen;

/** A listener for phases of which only the result counts. */
record Unheard() implements Progress {
    @Override
    public void started(long startNs) {
        // Only the result counts.
    }

    @Override
    public void interval(double fromS, double toS, Tally tally) {
        // Only the result counts.
    }

    @Override
    public void drained(double fromS, double toS, Tally tally) {
        // Only the result counts.
    }
}
