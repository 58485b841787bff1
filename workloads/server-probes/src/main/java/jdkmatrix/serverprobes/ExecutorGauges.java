package jdkmatrix.serverprobes;

import javax.management.ObjectName;
import jdkmatrix.common.jvm.Carriers;
import jdkmatrix.common.jvm.Jmx;

/**
 * Gauges of the pool behind the requests; null: not known here.
 *
 * @param poolSize live threads
 * @param active threads that run a task
 * @param queued tasks that wait for a thread; for {@code virtual}, runnable virtual threads that wait for a carrier
 *     (JDK 24 or later)
 * @param threadsStarted threads that the plugged executor has started since the start of the process
 */
record ExecutorGauges(Integer poolSize, Integer active, Integer queued, Long threadsStarted) {
    private static final ObjectName PLUGGED = Jmx.name("jdkmatrix:type=RequestExecutor");
    private static final ObjectName OWN = Jmx.name(System.getProperty("jdkmatrix.own.gauges", OwnPoolMXBean.NAME));

    static ExecutorGauges read() {
        Integer poolSize = Jmx.integer(PLUGGED, "PoolSize");
        Long threadsStarted = Jmx.whole(PLUGGED, "Started");
        if (poolSize == null) {
            // No plugged executor, or one that only lends its threads to the server's pool.
            Integer active = Jmx.integer(OWN, "Active");
            return new ExecutorGauges(
                    Jmx.integer(OWN, "PoolSize"),
                    active == null ? Jmx.integer(OWN, "ActiveThreads") : active,
                    Jmx.integer(OWN, "Queued"),
                    threadsStarted);
        }
        Integer queued = Jmx.integer(PLUGGED, "Queued");
        return new ExecutorGauges(
                poolSize,
                Jmx.integer(PLUGGED, "Active"),
                queued == null ? Carriers.queued() : queued,
                threadsStarted);
    }
}
