package jdkmatrix.requestexecutor;

/** How often the server's service registry asked our hooks, registered as {@link #NAME}. */
public interface ServiceHooksMXBean {
    String NAME = "jdkmatrix:type=ServiceHooks";

    /** Look-ups and events since the start of the process, with one that each reading makes. */
    long getCalls();
}
