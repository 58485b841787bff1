package jdkmatrix.standalone.burn;

/** A constant rate: task k is due k / rate after the start. */
record ConstantRate(double rps) {
    private static final double NS_PER_S = 1e9;

    /** @return nanoseconds after the start */
    long offsetNs(long task) {
        return (long) (task / rps * NS_PER_S);
    }

    /** Returns how many tasks are due before {@code durationNs} is over. */
    long due(long durationNs) {
        long due = (long) Math.ceil(durationNs / NS_PER_S * rps);
        while (due > 0 && offsetNs(due - 1) >= durationNs) {
            due--;
        }
        while (offsetNs(due) < durationNs) {
            due++;
        }
        return due;
    }
}
