package jdkmatrix.requestexecutor;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;

/**
 * The JDK's stock executor of a kind, with threads that carry the kind in their name. Threads that live for one
 * request share one name: a number in it would cost each request a string.
 */
public sealed interface RequestExecutor extends RequestExecutorMXBean {
    String THREAD_PREFIX = "jdkmatrix-";

    static RequestExecutor of(Kind kind) {
        return switch (kind) {
            case Kind.Virtual virtual -> new PerTask(virtual, Thread.ofVirtual().name(THREAD_PREFIX + virtual).factory());
            case Kind.Platform platform ->
                new PerTask(platform, Thread.ofPlatform().daemon().name(THREAD_PREFIX + platform).factory());
            case Kind.Fixed fixed -> {
                CountingThreadFactory threads = numberedPlatform(fixed);
                yield new Pool(fixed, threads, (ThreadPoolExecutor) Executors.newFixedThreadPool(fixed.threads(), threads));
            }
            case Kind.Cached cached -> {
                CountingThreadFactory threads = numberedPlatform(cached);
                yield new Pool(cached, threads, (ThreadPoolExecutor) Executors.newCachedThreadPool(threads));
            }
            case Kind.LibertyVirtual libertyVirtual -> new LibertyThreads(libertyVirtual);
        };
    }

    private static CountingThreadFactory numberedPlatform(Kind kind) {
        return new CountingThreadFactory(
                Thread.ofPlatform().daemon().name(THREAD_PREFIX + kind + "-", 1).factory());
    }

    /** One thread for each task. */
    final class PerTask implements RequestExecutor {
        private final Kind kind;
        private final CountingThreadFactory threads;
        private final ExecutorService executor;

        PerTask(Kind kind, ThreadFactory factory) {
            this.kind = kind;
            this.threads = new CountingThreadFactory(factory);
            this.executor = Executors.newThreadPerTaskExecutor(threads);
        }

        public ExecutorService executor() {
            return executor;
        }

        @Override
        public String getKind() {
            return kind.toString();
        }

        @Override
        public Integer getPoolSize() {
            return threads.live();
        }

        @Override
        public Integer getActive() {
            return threads.live();
        }

        @Override
        public Integer getQueued() {
            return kind instanceof Kind.Virtual ? null : 0;
        }

        @Override
        public long getStarted() {
            return threads.started();
        }
    }

    /** Threads that serve many tasks. */
    record Pool(Kind kind, CountingThreadFactory threads, ThreadPoolExecutor executor) implements RequestExecutor {
        @Override
        public String getKind() {
            return kind.toString();
        }

        @Override
        public Integer getPoolSize() {
            return executor.getPoolSize();
        }

        @Override
        public Integer getActive() {
            return executor.getActiveCount();
        }

        @Override
        public Integer getQueued() {
            return executor.getQueue().size();
        }

        @Override
        public long getStarted() {
            return threads.started();
        }
    }

    /** Threads for Liberty's own pool: there is no executor of ours. */
    final class LibertyThreads implements RequestExecutor {
        private final Kind kind;
        private final CountingThreadFactory threads;

        LibertyThreads(Kind kind) {
            this.kind = kind;
            this.threads =
                    new CountingThreadFactory(Thread.ofVirtual().name(THREAD_PREFIX + kind + "-", 1).factory());
        }

        ThreadFactory threads() {
            return threads;
        }

        @Override
        public String getKind() {
            return kind.toString();
        }

        @Override
        public Integer getPoolSize() {
            return null;
        }

        @Override
        public Integer getActive() {
            return null;
        }

        @Override
        public Integer getQueued() {
            return null;
        }

        @Override
        public long getStarted() {
            return threads.started();
        }
    }
}
