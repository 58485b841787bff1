package jdkmatrix.standalone.burn;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import jdkmatrix.common.jvm.Carriers;
import jdkmatrix.requestexecutor.Kind;
import jdkmatrix.requestexecutor.RequestExecutor;

/** An executor, and the threads that work for it: those of its pool, or the carriers of virtual threads. */
public final class Workers {
    private static final int KEEP_ALIVE_S = 30; // like the scheduler of virtual threads

    private final ExecutorService executor;
    private final Set<Long> threadIds;
    private final boolean carriers;
    private final Integer atOnce;

    private Workers(ExecutorService executor, Set<Long> threadIds, boolean carriers, Integer atOnce) {
        this.executor = executor;
        this.threadIds = threadIds;
        this.carriers = carriers;
        this.atOnce = atOnce;
    }

    public static Workers of(ExecutorKind kind) {
        Set<Long> ids = ConcurrentHashMap.newKeySet();
        Integer threads = kind.threads();
        return switch (kind.family()) {
            case VIRTUAL -> new Workers(
                    Executors.newVirtualThreadPerTaskExecutor(), Set.of(), true, Carriers.parallelism());
            case PLATFORM -> new Workers(
                    Executors.newThreadPerTaskExecutor(Thread.ofPlatform().daemon().factory()), Set.of(), false, null);
            case CACHED -> new Workers(Executors.newCachedThreadPool(remembered(ids)), ids, false, null);
            case FIXED -> new Workers(Executors.newFixedThreadPool(threads, remembered(ids)), ids, false, threads);
            case FJP_FIFO -> new Workers(likeTheScheduler(threads, true, ids), ids, false, threads);
            case FJP_LIFO -> new Workers(likeTheScheduler(threads, false, ids), ids, false, threads);
            case WORK_STEALING -> new Workers(
                    new ForkJoinPool(threads, rememberedForkJoin(ids), null, true), ids, false, threads);
            case VIRTUAL_BOUNDED -> new Workers(
                    RequestExecutor.of(Kind.named("virtual-bounded-" + threads)).executor(), Set.of(), true, threads);
        };
    }

    public ExecutorService executor() {
        return executor;
    }

    /** Returns how many tasks it runs at once; null: as many as there are. */
    Integer atOnce() {
        return atOnce;
    }

    /** Returns how many threads work for it, which are parked while there is nothing to do; null: no fixed number. */
    Integer threads() {
        return carriers ? Integer.valueOf(Carriers.parallelism()) : atOnce;
    }

    /** Returns whether its threads outlive a task, so that they can be parked while tasks wait. */
    boolean outliveTasks() {
        return carriers || atOnce != null || !threadIds.isEmpty();
    }

    /**
     * @param group name of the thread's group; null: none
     * @param name of the thread; null: none
     */
    boolean has(long threadId, String group, String name) {
        if (!carriers) {
            return threadIds.contains(threadId);
        }
        // From JDK 25, the pool also has a thread for delays, which a carrier may have started.
        return Carriers.THREAD_GROUP.equals(group) && (name == null || !name.endsWith("delayScheduler"));
    }

    /** Makes a pool with the settings of java.lang.VirtualThread's scheduler (JDK 25), except for its threads. */
    private static ForkJoinPool likeTheScheduler(int threads, boolean fifo, Set<Long> ids) {
        return new ForkJoinPool(
                threads,
                rememberedForkJoin(ids),
                null,
                fifo,
                0,
                threads,
                Math.max(threads / 2, 1),
                pool -> true,
                KEEP_ALIVE_S,
                TimeUnit.SECONDS);
    }

    private static ThreadFactory remembered(Set<Long> ids) {
        ThreadFactory threads = Thread.ofPlatform().daemon().name("worker-", 1).factory();
        return task -> {
            Thread thread = threads.newThread(task);
            ids.add(thread.threadId());
            return thread;
        };
    }

    private static ForkJoinPool.ForkJoinWorkerThreadFactory rememberedForkJoin(Set<Long> ids) {
        return pool -> {
            ForkJoinWorkerThread thread = ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
            ids.add(thread.threadId());
            return thread;
        };
    }
}
