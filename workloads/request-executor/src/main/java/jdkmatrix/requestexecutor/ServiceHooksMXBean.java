package jdkmatrix.requestexecutor;

/** Counts how often the server's service registry called our hooks; registered as {@link #NAME}. */
public interface ServiceHooksMXBean {
    String NAME = "jdkmatrix:type=ServiceHooks";

    /** Look-ups and events since the start of the process, including the look-up that each reading makes. */
    long getCalls();
}
