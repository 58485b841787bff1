package jdkmatrix.loadgen;

import io.netty.buffer.ByteBuf;

/**
 * One place in the schedule, and the TCP connection that currently fills it. It outlives its {@link Link}s: when one is
 * lost, the next continues with the remaining slots. Used by its event loop only.
 */
final class Connection {
    enum State {
        /** No link, none being made. */
        CLOSED,
        CONNECTING,
        /** Open, nothing outstanding. */
        FREE,
        /** One request outstanding. */
        BUSY
    }

    /** 0 to N - 1 over all event loops. */
    final int index;
    /** Every link of this connection writes the same buffer: only one request is outstanding at a time. */
    final ByteBuf request;
    /** The template in the buffer, apart from its fields; null before the first request. */
    Template template;

    State state = State.CLOSED;
    Link link;
    /** Consecutive links, including failed attempts, that brought no answer. */
    int barren;

    /** The next slot to send, in rounds of the schedule. */
    long round;
    long freeSinceNs;
    long intendedNs;
    long sentNs;

    Connection(int index, ByteBuf request) {
        this.index = index;
        this.request = request;
    }

    void newPhase() {
        round = 0;
        barren = 0;
    }
}
