package jdkmatrix.loadgen;

/** Decides when the connections of one event loop send. Used by that event loop only. */
interface Pacer {
    /** Returned by {@link #pump} when there is no time to wait for. */
    long NEVER = Long.MAX_VALUE;

    /** Sends what is due on connections that are free; returns when to call again, as System.nanoTime. */
    long pump(long nowNs);

    /** Sends what a connection owes that has just become free. */
    void free(Connection connection, long nowNs);

    /** True if latency is also counted from an intended send time. */
    boolean scheduled();

    /** Returns how many requests this connection owes and has not sent; 0 in a closed loop. */
    long unsent(Connection connection);

    /** Returns when a slot of this connection is due, as System.nanoTime. */
    long intendedNs(Connection connection, long round);
}
