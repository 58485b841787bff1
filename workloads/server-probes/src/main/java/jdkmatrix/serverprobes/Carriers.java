package jdkmatrix.serverprobes;

import javax.management.ObjectName;

/** The scheduler of virtual threads. */
final class Carriers {
    // jdk.management.VirtualThreadSchedulerMXBean, JDK 24 and later.
    private static final ObjectName SCHEDULER = Jmx.name("jdk.management:type=VirtualThreadScheduler");
    private static final String CARRIER_CLASS = "jdk.internal.misc.CarrierThread";

    private Carriers() {}

    /** Platform threads that carry virtual threads. Before JDK 24 they are told by their class. */
    static int count() {
        Integer poolSize = Jmx.integer(SCHEDULER, "PoolSize");
        return poolSize == null ? countByClass() : Math.max(0, poolSize);
    }

    /** Runnable virtual threads that wait for a carrier; null where the JDK does not say. */
    static Integer queued() {
        Integer queued = Jmx.integer(SCHEDULER, "QueuedVirtualThreadCount");
        return queued == null || queued < 0 ? null : queued;
    }

    static int countByClass() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        Thread[] threads = new Thread[root.activeCount() * 2 + 64];
        int found = root.enumerate(threads, true);
        int carriers = 0;
        for (int index = 0; index < found; index++) {
            if (threads[index].getClass().getName().equals(CARRIER_CLASS)) {
                carriers++;
            }
        }
        return carriers;
    }
}
