package jdkmatrix.serverprobes;

/** Gauges of a server's own pool, where the server has no MBean for it: registered as {@link #NAME}. */
public interface OwnPoolMXBean {
    String NAME = "jdkmatrix:type=OwnPool";

    /** Threads that are alive. */
    int getPoolSize();

    /** Threads that run a task; null: the server does not count them. */
    Integer getActive();

    /** Tasks that wait for a thread; null: the server does not count them. */
    Integer getQueued();
}
