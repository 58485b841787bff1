package jdkmatrix.standalone.pinning;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** A blocking call inside a construct. */
@FunctionalInterface
interface Blocking {
    /** Blocks once. */
    void block();

    /**
     * Returns a call with a monitor or lock of its own, where the construct has one.
     *
     * @throws ReflectiveOperationException when the JDK does not have what the construct needs
     */
    static Blocking of(Construct construct, int blockMs) throws ReflectiveOperationException {
        return switch (construct) {
            case SYNCHRONIZED -> inMonitor(new Object(), blockMs);
            case LOCK -> withLock(new ReentrantLock(), blockMs);
            case OBJECT_WAIT -> waitingFor(new Object(), blockMs);
            case CLASS_INIT -> new ClassInit(blockMs);
            case NATIVE -> ForeignUpcall.to(() -> sleep(blockMs));
            case CONTENDED_MONITOR, CONTENDED_LOCK -> () -> sleep(blockMs);
        };
    }

    /** Sleeps; nobody interrupts these threads. */
    static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Blocking inMonitor(Object monitor, int ms) {
        return () -> {
            synchronized (monitor) {
                sleep(ms);
            }
        };
    }

    private static Blocking withLock(ReentrantLock lock, int ms) {
        return () -> {
            lock.lock();
            try {
                sleep(ms);
            } finally {
                lock.unlock();
            }
        };
    }

    private static Blocking waitingFor(Object monitor, int ms) {
        return () -> {
            long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
            synchronized (monitor) {
                try {
                    // A wait may end spuriously.
                    for (long leftNs = endNs - System.nanoTime(); leftNs > 0; leftNs = endNs - System.nanoTime()) {
                        TimeUnit.NANOSECONDS.timedWait(monitor, leftNs);
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        };
    }
}
