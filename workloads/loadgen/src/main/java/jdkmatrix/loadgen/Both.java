package jdkmatrix.loadgen;

/** Notifies two listeners, in this order. */
record Both(Progress first, Progress second) implements Progress {
    @Override
    public void started(long startNs) {
        first.started(startNs);
        second.started(startNs);
    }

    @Override
    public void interval(double fromS, double toS, Tally tally) {
        first.interval(fromS, toS, tally);
        second.interval(fromS, toS, tally);
    }

    @Override
    public void drained(double fromS, double toS, Tally tally) {
        first.drained(fromS, toS, tally);
        second.drained(fromS, toS, tally);
    }
}
