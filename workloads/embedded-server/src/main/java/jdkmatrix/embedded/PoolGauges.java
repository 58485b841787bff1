package jdkmatrix.embedded;

import java.util.concurrent.ThreadPoolExecutor;
import jdkmatrix.serverprobes.OwnPoolMXBean;

/** The gauges of a server's own pool that is an executor of the JDK. */
public record PoolGauges(ThreadPoolExecutor pool) implements OwnPoolMXBean {
    @Override
    public int getPoolSize() {
        return pool.getPoolSize();
    }

    @Override
    public Integer getActive() {
        return pool.getActiveCount();
    }

    @Override
    public Integer getQueued() {
        return pool.getQueue().size();
    }
}
