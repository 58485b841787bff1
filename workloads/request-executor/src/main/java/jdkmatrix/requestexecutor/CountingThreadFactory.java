package jdkmatrix.requestexecutor;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.LongAdder;

/** Makes threads with {@code factory} and counts those that began to run and those that ended. */
public final class CountingThreadFactory implements ThreadFactory {
    private final ThreadFactory factory;
    private final LongAdder started = new LongAdder();
    private final LongAdder ended = new LongAdder();

    CountingThreadFactory(ThreadFactory factory) {
        this.factory = factory;
    }

    @Override
    public Thread newThread(Runnable task) {
        return factory.newThread(() -> {
            started.increment();
            try {
                task.run();
            } finally {
                ended.increment();
            }
        });
    }

    long started() {
        return started.sum();
    }

    int live() {
        // Read in this order, a thread that begins and ends in between cannot make the difference negative.
        long gone = ended.sum();
        return (int) (started.sum() - gone);
    }
}
