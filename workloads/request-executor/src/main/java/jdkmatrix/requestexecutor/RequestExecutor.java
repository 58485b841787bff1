package jdkmatrix.requestexecutor;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Supplier;

/**
 * The executor that runs requests: the JDK's stock executor of a kind, whose threads carry the kind in their name.
 * Threads that live for one request share one name, {@code jdkmatrix-KIND}, since a number in it would cost each
 * request a string; those of a pool are numbered after a {@code #}.
 *
 * @param isPerRequest whether it starts a thread for each task
 * @param threads the factory of the executor's threads, without whatever the executor makes them wait for
 * @param executor null where only threads are lent
 */
public record RequestExecutor(
        String name,
        boolean isPerRequest,
        CountingThreadFactory threads,
        ExecutorService executor,
        Supplier<Integer> poolSize,
        Supplier<Integer> active,
        Supplier<Integer> queued)
        implements RequestExecutorMXBean {
    private static final String THREAD_PREFIX = "jdkmatrix-";

    /** Makes the executor of a kind: the one place that knows how each row of the catalogue is made. */
    public static RequestExecutor of(Kind kind) {
        CountingThreadFactory threads = threads(kind.name(), kind.isVirtual(), kind.isPerRequest());
        return switch (kind.row()) {
            case "virtual" -> perTask(kind, threads, () -> null);
            case "virtual-bounded-N" -> bounded(kind, threads);
            case "platform" -> perTask(kind, threads, () -> 0);
            case "cached" -> pool(kind, threads, Executors.newCachedThreadPool(threads));
            case "fixed-N", "virtual-pooled-N" -> pool(kind, threads, Executors.newFixedThreadPool(kind.size(), threads));
            default -> throw new IllegalStateException(kind.row() + " is in the catalogue, and nobody makes it");
        };
    }

    /** Makes virtual threads for a server's own pool, which goes by {@code name}: there is no executor of ours. */
    static RequestExecutor lent(String name) {
        return new RequestExecutor(name, false, threads(name, true, false), null, () -> null, () -> null, () -> null);
    }

    private static RequestExecutor perTask(Kind kind, CountingThreadFactory threads, Supplier<Integer> queued) {
        ExecutorService executor = Executors.newThreadPerTaskExecutor(threads);
        return new RequestExecutor(kind.name(), true, threads, executor, threads::live, threads::live, queued);
    }

    private static RequestExecutor bounded(Kind kind, CountingThreadFactory threads) {
        Semaphore permits = new Semaphore(kind.size());
        ExecutorService executor = Executors.newThreadPerTaskExecutor(task -> threads.newThread(() -> {
            permits.acquireUninterruptibly();
            try {
                task.run();
            } finally {
                permits.release();
            }
        }));
        return new RequestExecutor(
                kind.name(), true, threads, executor, threads::live, () -> kind.size() - permits.availablePermits(), permits::getQueueLength);
    }

    private static RequestExecutor pool(Kind kind, CountingThreadFactory threads, ExecutorService executor) {
        ThreadPoolExecutor pool = (ThreadPoolExecutor) executor;
        return new RequestExecutor(
                kind.name(), false, threads, pool, pool::getPoolSize, pool::getActiveCount, () -> pool.getQueue().size());
    }

    private static CountingThreadFactory threads(String name, boolean virtual, boolean perRequest) {
        Thread.Builder threads = virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
        threads = perRequest ? threads.name(THREAD_PREFIX + name) : threads.name(THREAD_PREFIX + name + "#", 1);
        return new CountingThreadFactory(threads.factory());
    }

    @Override
    public String getKind() {
        return name;
    }

    @Override
    public Integer getPoolSize() {
        return poolSize.get();
    }

    @Override
    public Integer getActive() {
        return active.get();
    }

    @Override
    public Integer getQueued() {
        return queued.get();
    }

    @Override
    public long getStarted() {
        return threads.started();
    }
}
