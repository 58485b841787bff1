package jdkmatrix.loadgen;

/**
 * Intended send times, spread evenly over connections: slot k of the whole schedule belongs to connection k mod N as
 * that connection's round k div N.
 */
final class Schedule {
    private final Slots slots;
    private final int connections;
    private final long due;

    Schedule(Slots slots, int connections, long durationNs) {
        this.slots = slots;
        this.connections = connections;
        this.due = dueBefore(durationNs);
    }

    /** Returns when the slot is due, in nanoseconds after the start. */
    long offsetNs(int connection, long round) {
        return slots.offsetNs(connection + round * connections);
    }

    /** Returns the number of slots due within the duration, over all connections. */
    long due() {
        return due;
    }

    /** Returns how many slots of one connection are due within the duration: its rounds are 0 to this, exclusive. */
    long due(int connection) {
        return due <= connection ? 0 : (due - connection - 1) / connections + 1;
    }

    /** Returns how many slots are due before {@code ns}, at most the duration, as {@link Slots#offsetNs} rounds. */
    long dueBefore(long ns) {
        long high = 1;
        while (slots.offsetNs(high - 1) < ns) {
            high *= 2;
        }
        long low = high / 2;
        while (low < high) {
            long middle = (low + high) >>> 1;
            if (slots.offsetNs(middle) < ns) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
