package jdkmatrix.loadgen;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * One event loop with its share of the connections. Methods run on that loop unless they say otherwise; what it has
 * to say waits in its inbox for {@link Engine}.
 *
 * <p>No request leaves the books: what was due and has no answer when the drain is over (sent or not) is recorded in
 * the corrected histogram with the time it has waited by then, a lower bound, and so is a request that timed out.
 * Otherwise an overloaded or frozen server would look better the fewer requests it answers. A request that failed has
 * no latency and is only counted.
 */
final class Worker {
    /** What a worker tells. */
    sealed interface Report {
        /** Every connection was tried once, or the time for that is over. */
        record Prepared(int open, String error) implements Report {}

        /** One for each interval, in order, then one for the drain. */
        record Counted(Tally tally) implements Report {}

        /** A bug or a broken JVM: the figures of this phase cannot be trusted. */
        record Broken(Throwable cause) implements Report {}
    }

    private enum Mode {
        IDLE,
        PREPARING,
        RUNNING,
        DRAINING
    }

    private static final long BACKOFF_MIN_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final int BACKOFF_DOUBLINGS = 7; // up to 640 ms

    private final int index;
    private final int workers;
    private final EventLoop loop;
    private final Target target;
    private final Bootstrap bootstrap;
    private final Limits limits;
    private final BlockingQueue<Report> inbox = new LinkedBlockingQueue<>();
    private final Queue<Tally> spares = new ConcurrentLinkedQueue<>();
    private final List<Connection> connections = new ArrayList<>();
    private final Runnable wake = this::wake;
    private final Runnable checkTimeouts = this::checkTimeouts;

    private Mode mode = Mode.IDLE;
    private Tally tally = new Tally();
    private int connecting;
    private int outstanding;
    private String connectError;

    private Pacer pacer;
    private long startNs;
    private long endNs;
    private int interval;
    private long nextPumpNs = Pacer.NEVER;
    private boolean wakeArmed;
    private int phaseNumber;

    Worker(
            int index,
            int workers,
            EventLoop loop,
            Target target,
            Bootstrap bootstrap,
            Limits limits) {
        this.index = index;
        this.workers = workers;
        this.loop = loop;
        this.target = target;
        this.bootstrap = bootstrap;
        this.limits = limits;
    }

    EventLoop loop() {
        return loop;
    }

    /** Any thread: the next report, or null if none comes in time. */
    Report awaitReport(long timeoutNs) throws InterruptedException {
        return inbox.poll(timeoutNs, TimeUnit.NANOSECONDS);
    }

    /** Any thread: hands an emptied tally in, so that the loop need not allocate one. */
    void recycle(Tally empty) {
        spares.add(empty);
    }

    // ---------------------------------------------------------------- a phase, from its start to its end

    /** Opens what is missing of this loop's share of {@code total} connections, closes what is too much. */
    void prepare(int total) {
        mode = Mode.PREPARING;
        tally = freshTally();
        connectError = null;
        resize((total - index + workers - 1) / workers);
        int phase = ++phaseNumber;
        for (Connection connection : connections) {
            connection.newPhase();
            if (connection.state == Connection.State.CLOSED) {
                connect(connection);
            }
        }
        reportPrepared(connecting == 0);
        if (mode == Mode.PREPARING) {
            long waitNs = Math.min(limits.timeoutNs(), Limits.PREPARE_NS);
            loop.schedule(() -> reportPrepared(phase == phaseNumber), waitNs, TimeUnit.NANOSECONDS);
        }
    }

    void begin(Load load, long startNs, long durationNs) {
        this.startNs = startNs;
        this.endNs = startNs + durationNs;
        pacer = switch (load) {
            case Load.Rate rate -> new OpenLoop(
                    new Schedule(rate.rps(), rate.connections(), durationNs),
                    connections,
                    this,
                    startNs,
                    endNs,
                    limits.bundleNs());
            case Load.Saturate ignored -> new ClosedLoop(connections, this, startNs, endNs);
        };
        mode = Mode.RUNNING;
        interval = 0;
        connections.stream().filter(c -> c.state == Connection.State.CLOSED).forEach(this::reconnect);
        pump(System.nanoTime());
        armTimeouts();
        armInterval();
    }

    /** Gives the phase up before it began: not one connection could be opened anywhere. */
    void cancel() {
        mode = Mode.IDLE;
    }

    private void resize(int count) {
        while (connections.size() > count) {
            Connection connection = connections.removeLast();
            Link link = connection.link;
            connection.link = null;
            if (link != null) {
                link.close();
            }
            if (connection.state == Connection.State.CONNECTING) {
                connecting--;
            }
        }
        while (connections.size() < count) {
            connections.add(new Connection(index + connections.size() * workers, target.newRequestBuffer()));
        }
    }

    private void reportPrepared(boolean now) {
        if (now && mode == Mode.PREPARING) {
            mode = Mode.IDLE;
            long open = connections.stream().filter(c -> c.state == Connection.State.FREE).count();
            inbox.add(new Report.Prepared((int) open, connectError));
        }
    }

    private void armInterval() {
        long overNs = Math.min(startNs + (interval + 1) * Limits.INTERVAL_NS, endNs);
        loop.schedule(() -> intervalOver(overNs), overNs - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    private void intervalOver(long overNs) {
        if (overNs == endNs) {
            pacer.pump(System.nanoTime());
        }
        interval++;
        inbox.add(new Report.Counted(tally));
        tally = freshTally();
        if (overNs < endNs) {
            armInterval();
            return;
        }
        mode = Mode.DRAINING;
        nextPumpNs = Pacer.NEVER;
        int phase = phaseNumber;
        if (outstanding == 0) {
            drained();
        } else {
            long waitNs = Math.min(limits.timeoutNs(), Limits.DRAIN_NS);
            loop.schedule(() -> drainOver(phase), waitNs, TimeUnit.NANOSECONDS);
        }
    }

    private void drainOver(int phase) {
        if (mode == Mode.DRAINING && phase == phaseNumber) {
            drained();
        }
    }

    private void drained() {
        long now = System.nanoTime();
        mode = Mode.IDLE;
        for (Connection connection : connections) {
            if (connection.state == Connection.State.BUSY) {
                recordLowerBound(connection, now);
                // Its answer must not be taken for one of the next phase.
                drop(connection);
            }
            long unsent = pacer.unsent(connection);
            for (long i = 0; i < unsent; i++) {
                Tally.record(tally.corrected, now - pacer.intendedNs(connection, connection.round + i));
            }
            tally.correctedLowerBounds += unsent;
        }
        outstanding = 0;
        inbox.add(new Report.Counted(tally));
        tally = freshTally();
    }

    private Tally freshTally() {
        Tally spare = spares.poll();
        return spare == null ? new Tally() : spare;
    }

    // ---------------------------------------------------------------- requests

    void send(Connection connection, long intendedNs, long nowNs) {
        connection.state = Connection.State.BUSY;
        connection.intendedNs = intendedNs;
        connection.sentNs = nowNs;
        outstanding++;
        tally.sent++;
        if (pacer.scheduled() && connection.freeSinceNs <= intendedNs) {
            Tally.record(tally.lateness, nowNs - intendedNs);
        }
        connection.link.write();
    }

    void bytesRead(int count) {
        tally.bytesRead += count;
    }

    /** A complete answer of any status has come. */
    void answered(Link link, boolean success, boolean keepAlive) {
        Connection connection = link.connection;
        if (connection.link != link) {
            return;
        }
        if (connection.state != Connection.State.BUSY) {
            failed(link, Failure.READ); // an answer that nobody asked for: the connection cannot be trusted
            return;
        }
        long now = System.nanoTime();
        outstanding--;
        Tally.record(tally.uncorrected, now - connection.sentNs);
        if (pacer.scheduled()) {
            Tally.record(tally.corrected, now - connection.intendedNs);
        }
        if (now < endNs) {
            tally.completed++;
            tally.non2xx += success ? 0 : 1;
        } else {
            tally.answeredLate++;
        }
        connection.barren = 0;
        if (keepAlive) {
            free(connection, now);
        } else {
            drop(connection);
            reconnect(connection);
        }
        afterEvent(now);
    }

    /** The link is of no use any more. Counts a failed request if one was outstanding; older links are ignored. */
    void failed(Link link, Failure failure) {
        Connection connection = link.connection;
        if (connection.link != link || connection.state == Connection.State.CONNECTING) {
            return; // a failed attempt is told by its future
        }
        long now = System.nanoTime();
        if (connection.state == Connection.State.BUSY) {
            outstanding--;
            if (now < endNs) {
                tally.count(failure);
                if (failure == Failure.TIMEOUT) {
                    recordLowerBound(connection, now);
                }
            }
        }
        connection.barren = link.answered() ? 0 : connection.barren + 1;
        drop(connection);
        reconnect(connection);
        afterEvent(now);
    }

    void broken(Throwable cause) {
        inbox.add(new Report.Broken(cause));
    }

    private void recordLowerBound(Connection connection, long now) {
        Tally.record(tally.uncorrected, now - connection.sentNs);
        tally.uncorrectedLowerBounds++;
        if (pacer.scheduled()) {
            Tally.record(tally.corrected, now - connection.intendedNs);
            tally.correctedLowerBounds++;
        }
    }

    private void free(Connection connection, long now) {
        connection.state = Connection.State.FREE;
        connection.freeSinceNs = now;
        if (mode == Mode.RUNNING && now < endNs) {
            pacer.free(connection, now);
        }
    }

    private void afterEvent(long now) {
        if (mode == Mode.DRAINING && outstanding == 0) {
            drained();
        } else if (now >= nextPumpNs) {
            pump(now); // a long batch of answers must not delay what is due meanwhile
        }
    }

    // ---------------------------------------------------------------- time

    private void pump(long now) {
        nextPumpNs = pacer.pump(now);
        if (!wakeArmed && nextPumpNs != Pacer.NEVER) {
            wakeArmed = true;
            loop.schedule(wake, nextPumpNs - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
    }

    private void wake() {
        wakeArmed = false;
        if (mode == Mode.RUNNING) {
            pump(System.nanoTime());
        }
    }

    private void armTimeouts() {
        long tickNs = Math.clamp(limits.timeoutNs() / 20, Limits.TIMEOUT_TICK_MIN_NS, Limits.TIMEOUT_TICK_MAX_NS);
        loop.schedule(checkTimeouts, tickNs, TimeUnit.NANOSECONDS);
    }

    private void checkTimeouts() {
        if (mode != Mode.RUNNING) {
            return;
        }
        long now = System.nanoTime();
        for (Connection connection : connections) {
            if (connection.state == Connection.State.BUSY && now - connection.sentNs >= limits.timeoutNs()) {
                failed(connection.link, Failure.TIMEOUT);
            }
        }
        armTimeouts();
    }

    // ---------------------------------------------------------------- links

    private void connect(Connection connection) {
        Link link = new Link(this, connection);
        connection.link = link;
        connection.state = Connection.State.CONNECTING;
        connecting++;
        bootstrap.clone(loop).handler(link).connect(target.address()).addListener(future -> {
            if (connection.link != link) {
                link.close();
            } else if (future.isSuccess()) {
                connected(connection);
            } else {
                notConnected(connection, future.cause());
            }
        });
    }

    private void connected(Connection connection) {
        connecting--;
        if (mode == Mode.RUNNING) {
            tally.reconnects++;
        }
        free(connection, System.nanoTime());
        reportPrepared(connecting == 0);
    }

    private void notConnected(Connection connection, Throwable cause) {
        connecting--;
        connectError = cause.getMessage();
        if (mode == Mode.PREPARING || mode == Mode.RUNNING) {
            tally.count(Failure.CONNECT);
        }
        connection.barren++;
        drop(connection);
        reconnect(connection);
        reportPrepared(connecting == 0);
    }

    private void drop(Connection connection) {
        Link link = connection.link;
        connection.link = null;
        connection.state = Connection.State.CLOSED;
        link.close();
    }

    /** At once if the lost link brought an answer; otherwise after a pause that doubles, so that nothing spins. */
    private void reconnect(Connection connection) {
        if (mode != Mode.RUNNING) {
            return;
        }
        if (connection.barren == 0) {
            connect(connection);
            return;
        }
        long pauseNs = BACKOFF_MIN_NS << Math.min(connection.barren - 1, BACKOFF_DOUBLINGS);
        loop.schedule(() -> connectIfClosed(connection), pauseNs, TimeUnit.NANOSECONDS);
    }

    private void connectIfClosed(Connection connection) {
        if (mode == Mode.RUNNING
                && connection.state == Connection.State.CLOSED
                && connections.size() > connection.index / workers
                && connections.get(connection.index / workers) == connection) {
            connect(connection);
        }
    }
}
