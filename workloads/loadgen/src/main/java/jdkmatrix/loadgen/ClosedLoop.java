package jdkmatrix.loadgen;

import java.util.List;

/** As fast as the answers come. */
final class ClosedLoop implements Pacer {
    private final List<Connection> connections;
    private final Worker worker;
    private final long startNs;
    private final long endNs;
    private boolean started;

    ClosedLoop(List<Connection> connections, Worker worker, long startNs, long endNs) {
        this.connections = connections;
        this.worker = worker;
        this.startNs = startNs;
        this.endNs = endNs;
    }

    @Override
    public long pump(long nowNs) {
        if (nowNs < startNs) {
            return startNs;
        }
        if (!started) {
            started = true;
            for (Connection connection : connections) {
                if (connection.state == Connection.State.FREE) {
                    free(connection, System.nanoTime());
                }
            }
        }
        return NEVER;
    }

    @Override
    public void free(Connection connection, long nowNs) {
        if (started && nowNs < endNs) {
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
