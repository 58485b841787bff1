package jdkmatrix.pinning;

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import jdkmatrix.serverprobes.Problem;
import jdkmatrix.serverprobes.Text;

/**
 * The construct that a thread is inside while it blocks. Each call has a monitor or a lock of its own: the subject is
 * what happens to the carrier of a virtual thread, not contention.
 */
enum Construct {
    /** Nothing: the thread sleeps. */
    NONE {
        @Override
        void block(Duration time) throws InterruptedException {
            Thread.sleep(time);
        }
    },

    /** Sleeps inside a synchronized block: before JDK 24 (JEP 491) a virtual thread then pins its carrier. */
    SYNCHRONIZED {
        @Override
        void block(Duration time) throws InterruptedException {
            Object monitor = newMonitor();
            synchronized (monitor) {
                Thread.sleep(time);
            }
        }
    },

    /** Sleeps with a ReentrantLock held, which pins nothing on any JDK. */
    LOCK {
        @Override
        void block(Duration time) throws InterruptedException {
            ReentrantLock lock = new ReentrantLock();
            lock.lock();
            try {
                Thread.sleep(time);
            } finally {
                lock.unlock();
            }
        }
    },

    /**
     * Waits for a notification that never comes. Before JDK 24 the carrier waits too, but the scheduler starts another
     * one in its place as long as jdk.virtualThreadScheduler.maxPoolSize allows.
     */
    OBJECT_WAIT {
        @Override
        void block(Duration time) throws InterruptedException {
            Object monitor = newMonitor();
            long endNs = System.nanoTime() + time.toNanos();
            synchronized (monitor) {
                for (long leftNs = time.toNanos(); leftNs > 0; leftNs = endNs - System.nanoTime()) {
                    // Rounded up: wait(0) would last forever.
                    monitor.wait(Math.ceilDiv(leftNs, 1_000_000));
                }
            }
        }
    };

    // Visible to every thread, so that no compiler may elide the monitor of an object that only one thread can reach.
    @SuppressWarnings("unused")
    private static volatile Object lastMonitor;

    /** Blocks the calling thread for {@code time}. */
    abstract void block(Duration time) throws InterruptedException;

    /** Returns its name in a request. */
    String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** @throws Problem 400 when {@code text} is none of them, or null */
    static Construct of(String text) {
        return Arrays.stream(values())
                .filter(construct -> construct.text().equals(text))
                .findFirst()
                .orElseThrow(() -> Problem.badRequest(
                        "construct: expected one of " + allowed() + ", found " + Text.quoted(text)));
    }

    private static String allowed() {
        return Arrays.stream(values()).map(Construct::text).collect(Collectors.joining(", "));
    }

    private static Object newMonitor() {
        Object monitor = new Object();
        lastMonitor = monitor;
        return monitor;
    }
}
