package jdkmatrix.loadgen;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The connections of one event loop: opened a few at a time before a phase, and reopened when they are lost while it
 * runs. Used by that event loop only.
 */
final class Pool {
    /** Concurrent attempts of all loops before a phase: a server's queue of connections need not hold more. */
    private static final int AT_ONCE = 256;
    private static final long BACKOFF_MIN_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final int BACKOFF_DOUBLINGS = 7; // up to 640 ms

    private final int index;
    private final int workers;
    private final EventLoop loop;
    private final Worker worker;
    private final Composer composer;
    private final Bootstrap bootstrap;
    private final List<Connection> connections = new ArrayList<>();
    private final List<Connection> view = Collections.unmodifiableList(connections);
    /** Those after the last one, for a larger phase: their buffers are not on the heap. The next is on top. */
    private final Deque<Connection> surplus = new ArrayDeque<>();

    private int connecting;
    private int untried;
    private String error;

    /** @param bootstrap with the address set */
    Pool(int index, int workers, EventLoop loop, Worker worker, Composer composer, Bootstrap bootstrap) {
        this.index = index;
        this.workers = workers;
        this.loop = loop;
        this.worker = worker;
        this.composer = composer;
        this.bootstrap = bootstrap;
    }

    static int atOnce(int workers) {
        return Math.max(1, AT_ONCE / workers);
    }

    /** Returns a live view in the order of their slots. */
    List<Connection> connections() {
        return view;
    }

    /** Opens the missing connections of this loop's share of {@code total} and closes surplus ones. */
    void prepare(int total) {
        resize((total - index + workers - 1) / workers);
        connections.forEach(Connection::newPhase);
        error = null;
        untried = 0;
        connectNext();
    }

    /** True if, before a phase, there are connections that have not been tried or are being opened. */
    boolean preparing() {
        return connecting > 0 || untried < connections.size();
    }

    int open() {
        return (int) connections.stream().filter(c -> c.state == Connection.State.FREE).count();
    }

    /** Returns the last error of the attempts since {@link #prepare}; null if none failed. */
    String error() {
        return error;
    }

    /** Begins the phase; missing connections are opened while it runs. */
    void begin() {
        untried = connections.size();
        connections.stream().filter(c -> c.state == Connection.State.CLOSED).forEach(this::reconnect);
    }

    void drop(Connection connection) {
        Link link = connection.link;
        connection.link = null;
        connection.state = Connection.State.CLOSED;
        link.close();
    }

    /** Reconnects at once if the lost link brought an answer, else after a pause that doubles, so nothing spins. */
    void reconnect(Connection connection) {
        if (!worker.running()) {
            return;
        }
        if (connection.barren == 0) {
            connect(connection);
            return;
        }
        long pauseNs = BACKOFF_MIN_NS << Math.min(connection.barren - 1, BACKOFF_DOUBLINGS);
        worker.after(pauseNs, () -> connectIfClosed(connection));
    }

    private void resize(int count) {
        while (connections.size() > count) {
            Connection connection = connections.removeLast();
            if (connection.state == Connection.State.CONNECTING) {
                connecting--;
            }
            if (connection.link != null) {
                drop(connection);
            }
            surplus.push(connection);
        }
        while (connections.size() < count) {
            connections.add(
                    surplus.isEmpty()
                            ? new Connection(index + connections.size() * workers, composer.newBuffer())
                            : surplus.pop());
        }
    }

    private void connectNext() {
        while (connecting < atOnce(workers) && untried < connections.size()) {
            Connection connection = connections.get(untried++);
            if (connection.state == Connection.State.CLOSED) {
                connect(connection);
            }
        }
    }

    private void connect(Connection connection) {
        Link link = new Link(worker, connection);
        connection.link = link;
        connection.state = Connection.State.CONNECTING;
        connecting++;
        bootstrap.clone(loop).handler(link).connect().addListener(future -> {
            Runnable tried = worker.guarded(() -> tried(connection, link, future.cause()));
            if (loop.inEventLoop()) {
                tried.run();
            } else { // if no socket could be made
                loop.execute(tried);
            }
        });
    }

    /** @param refused null if the link is connected */
    private void tried(Connection connection, Link link, Throwable refused) {
        if (connection.link != link) {
            link.close();
            return;
        }
        connecting--;
        if (refused == null) {
            worker.connected(connection);
        } else {
            error = refused.getMessage();
            connection.barren++;
            drop(connection);
            worker.notConnected(connection);
        }
        connectNext();
        worker.reportIfPrepared();
    }

    private void connectIfClosed(Connection connection) {
        if (worker.running()
                && connection.state == Connection.State.CLOSED
                && connections.size() > connection.index / workers
                && connections.get(connection.index / workers) == connection) {
            connect(connection);
        }
    }
}
