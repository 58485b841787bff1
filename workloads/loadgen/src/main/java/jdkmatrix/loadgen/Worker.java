package jdkmatrix.loadgen;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.EventLoop;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import jdkmatrix.common.histogram.Histograms;

/**
 * One event loop with its share of the connections. Methods run on that loop unless they say otherwise; its reports
 * wait in its inbox for {@link Engine}.
 *
 * <p>No request is left out: one that was due and has no answer when the drain is over (sent or not) is recorded in the
 * corrected histogram with the time it has waited by then, a lower bound, and so is a request that timed out, or that
 * was outstanding when the phase ended and failed after that. Otherwise an overloaded or frozen server would look
 * better the fewer requests it answers. A request that failed before has no latency and is only counted.
 */
final class Worker {
    /** The reports of a worker. */
    sealed interface Report {
        /** Every connection was tried once, or the time for that is over. */
        record Prepared(int open, String error) implements Report {}

        /** One for the lead if there is one, one for each interval, in order, then one for the drain. */
        record Counted(Tally tally) implements Report {}

        /** No further request can be made: this phase has no figures. */
        record GaveUp(String why) implements Report {}

        /** A bug or a broken JVM: the figures of this phase cannot be trusted. */
        record Broken(Throwable cause) implements Report {}
    }

    private enum Mode {
        IDLE,
        PREPARING,
        RUNNING,
        DRAINING
    }

    private final EventLoop loop;
    private final Limits limits;
    private final Composer composer;
    private final Pool pool;
    private final BlockingQueue<Report> inbox = new LinkedBlockingQueue<>();
    private final Queue<Tally> spares = new ConcurrentLinkedQueue<>();
    private final Runnable wake = guarded(this::wake);

    private Mode mode = Mode.IDLE;
    private Tally tally = new Tally();
    private int outstanding;

    private Pacer pacer;
    /** The start of what is counted; with a lead, sending starts earlier. */
    private long startNs;
    private long endNs;
    private long intervalNs;
    /** The end of the interval that is being counted. */
    private long overNs;
    private long nextPumpNs = Pacer.NEVER;
    private boolean wakeArmed;
    private int phaseNumber;

    Worker(int index, int workers, EventLoop loop, Target target, Bootstrap bootstrap, Limits limits) {
        this.loop = loop;
        this.limits = limits;
        this.composer = new Composer(target.requests(), index, workers);
        this.pool = new Pool(index, workers, loop, this, composer, bootstrap);
    }

    EventLoop loop() {
        return loop;
    }

    /** Returns the next report, or null if none comes in time. For any thread. */
    Report awaitReport(long timeoutNs) throws InterruptedException {
        return inbox.poll(timeoutNs, TimeUnit.NANOSECONDS);
    }

    /** Takes back an emptied tally, so that the loop need not allocate one. For any thread. */
    void recycle(Tally empty) {
        spares.add(empty);
    }

    // ---------------------------------------------------------------- a phase, from its start to its end

    /** Opens and closes connections until this loop has its share of {@code total}. */
    void prepare(int total) {
        mode = Mode.PREPARING;
        tally = freshTally();
        int phase = ++phaseNumber;
        pool.prepare(total);
        reportIfPrepared();
        if (mode == Mode.PREPARING) {
            after(Limits.prepareNs(total), () -> prepareOver(phase));
        }
    }

    void begin(Phase phase, long startNs) {
        this.startNs = startNs;
        this.endNs = startNs + phase.durationNs();
        this.intervalNs = phase.intervalNs();
        long sendNs = startNs - phase.leadNs();
        pacer = switch (phase.load()) {
            case Load.Scheduled scheduled -> new OpenLoop(
                    scheduled.schedule(phase.durationNs()), pool.connections(), this, sendNs, endNs, limits.bundleNs());
            case Load.Joining closed -> new ClosedLoop(phase.joining(closed), pool.connections(), this, sendNs, endNs);
        };
        mode = Mode.RUNNING;
        overNs = phase.leadNs() > 0 ? startNs : Math.min(startNs + intervalNs, endNs);
        pool.begin();
        pump(System.nanoTime());
        armTimeouts(phaseNumber);
        armInterval();
    }

    /** Gives up the phase before it begins: not one connection could be opened anywhere. */
    void cancel() {
        mode = Mode.IDLE;
    }

    /** Reports, once, that every connection was tried. */
    void reportIfPrepared() {
        if (mode == Mode.PREPARING && !pool.preparing()) {
            reportPrepared();
        }
    }

    private void prepareOver(int phase) {
        if (mode == Mode.PREPARING && phase == phaseNumber) {
            reportPrepared();
        }
    }

    private void reportPrepared() {
        mode = Mode.IDLE;
        inbox.add(new Report.Prepared(pool.open(), pool.error()));
    }

    private void armInterval() {
        after(overNs - System.nanoTime(), this::intervalOver);
    }

    private void intervalOver() {
        long now = System.nanoTime();
        countTo(now);
        if (now < endNs) {
            armInterval();
            return;
        }
        pacer.pump(now);
        report();
        mode = Mode.DRAINING;
        nextPumpNs = Pacer.NEVER;
        int phase = phaseNumber;
        if (outstanding == 0) {
            drained();
        } else {
            long waitNs = Math.min(limits.timeoutNs(), Limits.DRAIN_NS);
            after(waitNs, () -> drainOver(phase));
        }
    }

    /** Hands over the intervals that are over, except the last: whatever follows counts for the next, however late. */
    private void countTo(long nowNs) {
        while (overNs <= nowNs && overNs < endNs) {
            int carried = overNs == startNs ? outstanding : 0;
            tally.sent -= carried;
            report();
            tally.sent += carried;
            overNs = Math.min(overNs + intervalNs, endNs);
        }
    }

    private void report() {
        inbox.add(new Report.Counted(tally));
        tally = freshTally();
    }

    private void drainOver(int phase) {
        if (mode == Mode.DRAINING && phase == phaseNumber) {
            drained();
        }
    }

    private void drained() {
        long now = System.nanoTime();
        mode = Mode.IDLE;
        for (Connection connection : pool.connections()) {
            if (connection.state == Connection.State.BUSY) {
                recordLowerBound(connection, now);
                // Its answer must not be taken for one of the next phase.
                pool.drop(connection);
            }
            long unsent = pacer.unsent(connection);
            for (long i = 0; i < unsent; i++) {
                Histograms.record(tally.corrected, now - pacer.intendedNs(connection, connection.round + i));
            }
            tally.correctedLowerBounds += unsent;
        }
        outstanding = 0;
        report();
    }

    private Tally freshTally() {
        Tally spare = spares.poll();
        return spare == null ? new Tally() : spare;
    }

    // ---------------------------------------------------------------- requests

    void send(Connection connection, long intendedNs, long nowNs) {
        countTo(nowNs);
        if (!composer.compose(connection)) {
            inbox.add(new Report.GaveUp(composer.exhausted()));
            return;
        }
        connection.state = Connection.State.BUSY;
        connection.intendedNs = intendedNs;
        connection.sentNs = nowNs;
        outstanding++;
        tally.sent++;
        if (pacer.scheduled() && connection.freeSinceNs <= intendedNs) {
            Histograms.record(tally.lateness, nowNs - intendedNs);
        }
        connection.link.write();
    }

    void bytesRead(int count) {
        tally.bytesRead += count;
    }

    /** Handles a complete answer of any status. */
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
        countTo(now);
        outstanding--;
        Histograms.record(tally.uncorrected, now - connection.sentNs);
        if (pacer.scheduled()) {
            Histograms.record(tally.corrected, now - connection.intendedNs);
        }
        if (now < endNs) {
            tally.completed++;
            tally.non2xx += success ? 0 : 1;
        } else {
            tally.answeredLate++;
            tally.lateNon2xx += success ? 0 : 1;
        }
        connection.barren = 0;
        link.answered = true;
        if (keepAlive) {
            free(connection, now);
        } else {
            pool.drop(connection);
            pool.reconnect(connection);
        }
        afterEvent(now);
    }

    /** Drops a link that is no longer usable. Counts a failed request if one was outstanding; ignores older links. */
    void failed(Link link, Failure failure) {
        Connection connection = link.connection;
        if (connection.link != link || connection.state == Connection.State.CONNECTING) {
            return; // a failed attempt is reported by its future
        }
        long now = System.nanoTime();
        countTo(now);
        if (connection.state == Connection.State.BUSY) {
            outstanding--;
            if (now < endNs) {
                tally.count(failure);
            }
            if (now >= endNs || failure == Failure.TIMEOUT) {
                recordLowerBound(connection, now);
            }
        }
        connection.barren = link.answered ? 0 : connection.barren + 1;
        pool.drop(connection);
        pool.reconnect(connection);
        afterEvent(now);
    }

    void broken(Throwable cause) {
        inbox.add(new Report.Broken(cause));
    }

    private void recordLowerBound(Connection connection, long now) {
        Histograms.record(tally.uncorrected, now - connection.sentNs);
        tally.uncorrectedLowerBounds++;
        if (pacer.scheduled()) {
            Histograms.record(tally.corrected, now - connection.intendedNs);
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

    /** Runs a task on the loop after this time, guarded. */
    void after(long delayNs, Runnable task) {
        loop.schedule(guarded(task), delayNs, TimeUnit.NANOSECONDS);
    }

    /** Makes whatever the task throws end the phase. Netty would keep it in a future that nobody reads, and go on. */
    Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (Throwable e) {
                broken(e);
            }
        };
    }

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

    private void armTimeouts(int phase) {
        long tickNs = Math.clamp(limits.timeoutNs() / 20, Limits.TIMEOUT_TICK_MIN_NS, Limits.TIMEOUT_TICK_MAX_NS);
        after(tickNs, () -> checkTimeouts(phase));
    }

    private void checkTimeouts(int phase) {
        // The next phase has a check of its own, beside which that of this one must not go on.
        if (mode != Mode.RUNNING || phase != phaseNumber) {
            return;
        }
        long now = System.nanoTime();
        for (Connection connection : pool.connections()) {
            if (connection.state == Connection.State.BUSY && now - connection.sentNs >= limits.timeoutNs()) {
                failed(connection.link, Failure.TIMEOUT);
            }
        }
        armTimeouts(phase);
    }

    // ---------------------------------------------------------------- callbacks of the pool

    boolean running() {
        return mode == Mode.RUNNING;
    }

    void connected(Connection connection) {
        if (running()) {
            tally.reconnects++;
        }
        free(connection, System.nanoTime());
    }

    void notConnected(Connection connection) {
        if (running() || mode == Mode.PREPARING) {
            tally.count(Failure.CONNECT);
        }
        pool.reconnect(connection);
    }
}
