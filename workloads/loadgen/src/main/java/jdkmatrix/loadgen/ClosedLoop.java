package jdkmatrix.loadgen;

import java.util.List;

/** Sends as fast as the answers come, from the time when a connection joins. */
final class ClosedLoop implements Pacer {
    private final List<Connection> connections;
    private final Worker worker;
    private final long startNs;
    private final long endNs;
    private final Load.Joining load;
    /** The number of connections that have joined. */
    private int joined;

    ClosedLoop(Load.Joining load, List<Connection> connections, Worker worker, long startNs, long endNs) {
        this.load = load;
        this.connections = connections;
        this.worker = worker;
        this.startNs = startNs;
        this.endNs = endNs;
    }

    @Override
    public long pump(long nowNs) {
        while (joined < connections.size() && joinsNs(connections.get(joined)) <= nowNs) {
            Connection connection = connections.get(joined++);
            if (connection.state == Connection.State.FREE) {
                free(connection, System.nanoTime());
            }
        }
        return joined < connections.size() ? joinsNs(connections.get(joined)) : NEVER;
    }

    private long joinsNs(Connection connection) {
        return startNs + load.joinsAfterNs(connection.index);
    }

    @Override
    public void free(Connection connection, long nowNs) {
        if (nowNs >= joinsNs(connection) && nowNs < endNs) {
            worker.send(connection, nowNs, nowNs);
        }
    }

    @Override
    public boolean scheduled() {
        return false;
    }

    @Override
    public long unsent(Connection connection) {
        return 0;
    }

    @Override
    public long intendedNs(Connection connection, long round) {
        throw new IllegalStateException("a closed loop has no schedule");
    }
}
