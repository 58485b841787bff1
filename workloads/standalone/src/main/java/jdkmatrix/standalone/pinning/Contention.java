package jdkmatrix.standalone.pinning;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that wait for one monitor, or one lock, which a platform thread holds until this is closed. The question is
 * what they do to others: a virtual thread that keeps its carrier while it waits leaves one carrier fewer for all.
 */
final class Contention implements AutoCloseable {
    private final CountDownLatch released = new CountDownLatch(1);
    private final List<Thread> threads = new ArrayList<>();

    private Contention() {}

    /** Returns a contention in which nobody waits for anything. */
    static Contention none() {
        return new Contention();
    }

    /**
     * Returns when {@code waiting} threads of {@code builder} are about to enter, each with a carrier if it needs one.
     *
     * @param waiting at most as many as can run at once: more would wait for a carrier here, for ever
     */
    static Contention forMonitor(int waiting, Thread.Builder builder) throws InterruptedException {
        Object monitor = new Object();
        return new Contention().begin(waiting, builder, inside -> {
            synchronized (monitor) {
                inside.run();
            }
        });
    }

    /** Does the same as {@link #forMonitor} with a lock. */
    static Contention forLock(int waiting, Thread.Builder builder) throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        return new Contention().begin(waiting, builder, inside -> {
            lock.lock();
            try {
                inside.run();
            } finally {
                lock.unlock();
            }
        });
    }

    /** Releases the monitor or lock, and waits until all have had it. */
    @Override
    public void close() {
        released.countDown();
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
    }

    private Contention begin(int waiting, Thread.Builder builder, Entered entered) throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        start(Thread.ofPlatform().daemon(), () -> entered.enter(() -> {
            held.countDown();
            awaitRelease();
        }));
        held.await();
        CountDownLatch aboutTo = new CountDownLatch(waiting);
        for (int i = 0; i < waiting; i++) {
            start(builder, () -> {
                aboutTo.countDown();
                entered.enter(() -> {});
            });
        }
        aboutTo.await();
        return this;
    }

    private void start(Thread.Builder builder, Runnable code) {
        threads.add(builder.start(code));
    }

    private void awaitRelease() {
        try {
            released.await();
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
    }

    /** Runs code with the monitor or lock held. */
    @FunctionalInterface
    private interface Entered {
        void enter(Runnable inside);
    }
}
