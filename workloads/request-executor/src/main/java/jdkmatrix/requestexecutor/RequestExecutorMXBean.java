package jdkmatrix.requestexecutor;

/** Gauges of the request executor, registered as {@link #NAME}. Null: this kind does not have the figure. */
public interface RequestExecutorMXBean {
    String NAME = "jdkmatrix:type=RequestExecutor";

    String getKind();

    /** Threads that are alive; null where they were lent to a pool of the server, which has gauges of its own. */
    Integer getPoolSize();

    /** Threads that run a task. */
    Integer getActive();

    /** Tasks that wait for a thread; null where the scheduler of virtual threads holds them. */
    Integer getQueued();

    /** Threads that have ever begun to run. */
    long getStarted();
}
