package jdkmatrix.loadgen;

/**
 * Intended send times of a constant rate, spread evenly over connections.
 *
 * <p>Slot k of the whole schedule is due k / rate seconds after the start and belongs to connection k mod N as that
 * connection's round k div N. So every connection has a constant rate of its own, and all together they send at equal
 * distances. Times are computed from k, not added up: there is no drift.
 */
final class Schedule {
    private final double intervalNs;
    private final int connections;
    private final long due;

    Schedule(double rateRps, int connections, long durationNs) {
        this.intervalNs = 1e9 / rateRps;
        this.connections = connections;
        this.due = slotsBefore(durationNs);
    }

    /** When the slot is due, in nanoseconds after the start. */
    long offsetNs(int connection, long round) {
        return slotOffsetNs(connection + round * connections);
    }

    /** Slots due within the duration, over all connections. */
    long due() {
        return due;
    }

    /** Slots of one connection due within the duration: its rounds are 0 to this, exclusive. */
    long due(int connection) {
        return due <= connection ? 0 : (due - connection - 1) / connections + 1;
    }

    private long slotOffsetNs(long slot) {
        return (long) (slot * intervalNs);
    }

    private long slotsBefore(long durationNs) {
        long slots = (long) (durationNs / intervalNs);
        // The division above and the multiplication in slotOffsetNs round on their own: settle it by the latter.
        while (slotOffsetNs(slots) < durationNs) {
            slots++;
        }
        while (slots > 0 && slotOffsetNs(slots - 1) >= durationNs) {
            slots--;
        }
        return slots;
    }
}
