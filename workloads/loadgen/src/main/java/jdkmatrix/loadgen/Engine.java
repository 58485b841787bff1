package jdkmatrix.loadgen;

import com.sun.management.UnixOperatingSystemMXBean;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Runs phases against one target, one after another, over connections that are kept from phase to phase.
 *
 * <p>A phase opens its missing connections (for at most {@link Limits#prepareNs}), sends for its lead, which is counted
 * separately, and on for its duration, waits for outstanding answers (for at most {@link Limits#DRAIN_NS}) and closes
 * the connections that are still busy.
 */
final class Engine implements AutoCloseable {
    /** The time from the decision to begin to the first slot, by which every event loop has its orders. */
    private static final long ORDERS_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long MARGIN_NS = TimeUnit.SECONDS.toNanos(10);
    /** Open files of the JVM (libraries, pipes, logs) and, three each, of the event loops. */
    private static final int OTHER_FILES = 128;
    private static final int FILES_PER_LOOP = 3;
    private static final long MAX_REQUEST_BYTES = 128L << 20;

    private final Target target;
    private final Limits limits;
    private final LoopThreads loopThreads = new LoopThreads();
    private final EventLoopGroup group;
    private final List<Worker> workers = new ArrayList<>();
    private final Tally gathered = new Tally();
    private final UnixOperatingSystemMXBean os =
            ManagementFactory.getPlatformMXBean(UnixOperatingSystemMXBean.class);

    Engine(Target target, int threads, Limits limits) {
        if (!Epoll.isAvailable()) {
            throw new IllegalStateException(
                    "Netty's native epoll transport is needed (Linux on x86_64 or aarch64): "
                            + Epoll.unavailabilityCause().getMessage(),
                    Epoll.unavailabilityCause());
        }
        this.target = target;
        this.limits = limits;
        group = new MultiThreadIoEventLoopGroup(threads, loopThreads, EpollIoHandler.newFactory());
        Bootstrap bootstrap = new Bootstrap()
                .channel(EpollSocketChannel.class)
                .remoteAddress(target.address())
                .option(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) TimeUnit.NANOSECONDS.toMillis(limits.timeoutNs()));
        for (int i = 0; i < threads; i++) {
            EventLoop loop = group.next();
            workers.add(new Worker(i, threads, loop, target, bootstrap, limits));
        }
    }

    /**
     * Runs one phase and waits for its end.
     *
     * @throws RefusedException if the phase did not begin; the engine stays usable
     * @throws IllegalStateException if an event loop broke, hangs or has no request left; the engine is then unusable
     */
    PhaseResult run(Phase phase, Progress progress) throws RefusedException, InterruptedException {
        check(phase.load().connections());
        prepare(phase.load().connections());
        long startNs = System.nanoTime() + ORDERS_NS + phase.leadNs();
        long endNs = startNs + phase.durationNs();
        each(worker -> worker.begin(phase, startNs));
        progress.started(startNs);
        Tally lead = new Tally();
        if (phase.leadNs() > 0) {
            lead.add(gather(startNs + MARGIN_NS));
        }

        long cpuBefore = os.getProcessCpuTime();
        long[] loopsBefore = loopThreads.cpuNs();
        Tally total = new Tally();
        double durationS = phase.durationNs() / 1e9;
        for (long fromNs = 0; fromNs < phase.durationNs(); fromNs += phase.intervalNs()) {
            long toNs = Math.min(fromNs + phase.intervalNs(), phase.durationNs());
            Tally tally = gather(startNs + toNs + MARGIN_NS);
            total.add(tally);
            progress.interval(fromNs / 1e9, toNs / 1e9, tally);
        }
        double busiestLoopCpuS = loopThreads.busiestNs(loopsBefore) / 1e9;
        double cpuS = (os.getProcessCpuTime() - cpuBefore) / 1e9;
        Tally drain = gather(endNs + Limits.DRAIN_NS + MARGIN_NS);
        total.add(drain);
        progress.drained(durationS, Math.max(durationS, (System.nanoTime() - startNs) / 1e9), drain);
        long due = phase.load() instanceof Load.Scheduled load ? load.schedule(phase.durationNs()).due() : 0;
        return new PhaseResult(phase, startNs, endNs, due, lead, total, cpuS, busiestLoopCpuS);
    }

    String url() {
        return target.url();
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }

    private void check(int connections) throws RefusedException {
        long files = (long) connections + OTHER_FILES + FILES_PER_LOOP * workers.size();
        if (files > os.getMaxFileDescriptorCount()) {
            throw new RefusedException(
                    "connections = %d: %d open files are needed, %d are allowed here; raise the limit (ulimit -n)"
                            .formatted(connections, files, os.getMaxFileDescriptorCount()));
        }
        long bytes = (long) connections * target.longestRequest();
        if (bytes > MAX_REQUEST_BYTES) {
            throw new RefusedException(
                    "connections = %d: with requests of %d bytes they need %d MiB of buffers; %d are allowed"
                            .formatted(connections, target.longestRequest(), bytes >> 20, MAX_REQUEST_BYTES >> 20));
        }
    }

    private void prepare(int connections) throws RefusedException, InterruptedException {
        each(worker -> worker.prepare(connections));
        long deadlineNs = System.nanoTime() + Limits.prepareNs(connections) + MARGIN_NS;
        int open = 0;
        String error = null;
        for (Worker worker : workers) {
            Worker.Report.Prepared prepared = next(worker, Worker.Report.Prepared.class, deadlineNs);
            open += prepared.open();
            error = prepared.error() == null ? error : prepared.error();
        }
        if (open == 0) {
            each(Worker::cancel);
            throw new RefusedException(
                    "not one connection to %s could be opened: %s"
                            .formatted(target.url(), error == null ? "no answer in time" : error));
        }
    }

    private void each(Consumer<Worker> order) {
        for (Worker worker : workers) {
            worker.loop().execute(worker.guarded(() -> order.accept(worker)));
        }
    }

    /** Returns the next tally of all workers together; valid until the next call. */
    private Tally gather(long deadlineNs) throws InterruptedException {
        gathered.reset();
        for (Worker worker : workers) {
            Tally tally = next(worker, Worker.Report.Counted.class, deadlineNs).tally();
            gathered.add(tally);
            tally.reset();
            worker.recycle(tally);
        }
        return gathered;
    }

    private static <T extends Worker.Report> T next(Worker worker, Class<T> type, long deadlineNs)
            throws InterruptedException {
        Worker.Report report = worker.awaitReport(deadlineNs - System.nanoTime());
        return switch (report) {
            case null -> throw new IllegalStateException("an event loop hangs: no report in time");
            case Worker.Report.GaveUp gaveUp -> throw new IllegalStateException(gaveUp.why());
            case Worker.Report.Broken broken ->
                throw new IllegalStateException("an event loop broke: " + broken.cause(), broken.cause());
            default -> type.cast(report);
        };
    }
}
