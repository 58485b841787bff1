package jdkmatrix.requestexecutor;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;

/** Makes threads with {@code factory} and counts those that began to run and those that ended. */
public final class CountingThreadFactory implements ThreadFactory {
    private final ThreadFactory factory;
    private final AtomicLong started = new AtomicLong();
    private final AtomicLong ended = new AtomicLong();

    CountingThreadFactory(ThreadFactory factory) {
        this.factory = factory;
    }

    @Override
    public Thread newThread(Runnable task) {
        return factory.newThread(() -> {
            started.incrementAndGet();
            try {
                task.run();
            } finally {
                ended.incrementAndGet();
            }
        });
    }

    long started() {
        return started.get();
    }

    int live() {
        // In this order, a thread that begins and ends between the two reads cannot make the difference negative.
        long gone = ended.get();
        return (int) (started.get() - gone);
    }
}
