package jdkmatrix.loadgen;

/** Decides when the connections of one event loop send. Used by that event loop only. */
interface Pacer {
    /** Returned by {@link #pump} when no time is to be waited for. */
    long NEVER = Long.MAX_VALUE;

    /** Sends what is due on connections that are free; returns when to call again, as System.nanoTime. */
    long pump(long nowNs);

    /** The connection has become free: sends what it owes. */
    void free(Connection connection, long nowNs);

    /** Is latency counted from an intended send time too? */
    boolean scheduled();

    /** Requests that this connection owes and has not sent; 0 in a closed loop. */
    long unsent(Connection connection);

    /** When a slot of this connection was due, as System.nanoTime. */
    long intendedNs(Connection connection, long round);
}
