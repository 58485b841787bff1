package jdkmatrix.loadgen;

import java.util.List;

/**
 * Follows a schedule, whatever the answers do. Each connection has its own slots ({@link Schedule}); one that was busy
 * past some of them sends the backlog as fast as its answers come, as wrk2 does.
 */
final class OpenLoop implements Pacer {
    private final Schedule schedule;
    private final List<Connection> connections;
    private final Worker worker;
    private final long startNs;
    private final long endNs;
    private final long bundleNs;

    // The next slot of this event loop that has not come up yet; all its connections take turns.
    private int turn;
    private long round;
    private long nextNs;

    /** @param bundleNs {@link Limits#bundleNs} */
    OpenLoop(
            Schedule schedule,
            List<Connection> connections,
            Worker worker,
            long startNs,
            long endNs,
            long bundleNs) {
        this.schedule = schedule;
        this.connections = connections;
        this.worker = worker;
        this.startNs = startNs;
        this.endNs = endNs;
        this.bundleNs = bundleNs;
        this.nextNs = slotNs();
    }

    @Override
    public long pump(long nowNs) {
        long now = nowNs;
        while (nextNs <= now) {
            Connection connection = connections.get(turn);
            long slotRound = round;
            long intendedNs = nextNs;
            if (++turn == connections.size()) {
                turn = 0;
                round++;
            }
            nextNs = slotNs(); // before anything is sent: a write that fails at once comes back here
            if (connection.state == Connection.State.FREE && connection.round == slotRound) {
                now = System.nanoTime();
                send(connection, intendedNs, now);
            }
        }
        return nextNs == NEVER || nowNs < startNs ? nextNs : Math.max(nextNs, nowNs + bundleNs);
    }

    @Override
    public void free(Connection connection, long nowNs) {
        long intendedNs = intendedNs(connection, connection.round);
        if (intendedNs <= nowNs && intendedNs < endNs) {
            send(connection, intendedNs, nowNs);
        }
    }

    @Override
    public boolean scheduled() {
        return true;
    }

    @Override
    public long unsent(Connection connection) {
        return schedule.due(connection.index) - connection.round;
    }

    @Override
    public long intendedNs(Connection connection, long round) {
        return startNs + schedule.offsetNs(connection.index, round);
    }

    private void send(Connection connection, long intendedNs, long nowNs) {
        connection.round++;
        worker.send(connection, intendedNs, nowNs);
    }

    private long slotNs() {
        if (connections.isEmpty()) {
            return NEVER;
        }
        long slotNs = intendedNs(connections.get(turn), round);
        return slotNs < endNs ? slotNs : NEVER;
    }
}
