package jdkmatrix.common.jvm;

import javax.management.ObjectName;

/**
 * The scheduler of virtual threads. From JDK 24 an MBean describes it (jdk.management.VirtualThreadSchedulerMXBean);
 * before, its threads are recognised by their class and its limits derived from the properties and defaults that
 * java.lang.VirtualThread documents.
 */
public final class Carriers {
    /** The thread group of carriers in the JDK (jdk.internal.misc.CarrierThread). */
    public static final String THREAD_GROUP = "CarrierThreads";

    private static final ObjectName SCHEDULER = Jmx.name("jdk.management:type=VirtualThreadScheduler");
    private static final String CARRIER_CLASS = "jdk.internal.misc.CarrierThread";
    private static final String PARALLELISM = "jdk.virtualThreadScheduler.parallelism";
    private static final String MAX_POOL_SIZE = "jdk.virtualThreadScheduler.maxPoolSize";
    private static final int DEFAULT_MAX_POOL_SIZE = 256;

    private Carriers() {}

    /** Returns how many virtual threads run at once when none pins its carrier. */
    public static int parallelism() {
        Integer said = Jmx.integer(SCHEDULER, "Parallelism");
        if (said != null && said > 0) {
            return said;
        }
        return Math.min(Integer.getInteger(PARALLELISM, Runtime.getRuntime().availableProcessors()), maxPoolSize());
    }

    /** Returns the maximum number of carriers, including those that stand in for blocked ones. */
    public static int maxPoolSize() {
        int parallelism = Integer.getInteger(PARALLELISM, Runtime.getRuntime().availableProcessors());
        return Integer.getInteger(MAX_POOL_SIZE, Math.max(parallelism, DEFAULT_MAX_POOL_SIZE));
    }

    /** Returns the current number of carriers. */
    public static int count() {
        Integer poolSize = Jmx.integer(SCHEDULER, "PoolSize");
        return poolSize == null || poolSize < 0 ? countByClass() : poolSize;
    }

    /** Returns the source of {@link #count}. */
    public static String source() {
        return Jmx.integer(SCHEDULER, "PoolSize") == null ? "threads of class " + CARRIER_CLASS : SCHEDULER.toString();
    }

    /** Returns how many runnable virtual threads wait for a carrier; null if the JDK does not say. */
    public static Integer queued() {
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
