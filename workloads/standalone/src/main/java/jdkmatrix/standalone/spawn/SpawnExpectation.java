package jdkmatrix.standalone.spawn;

import jdkmatrix.standalone.result.Expected;

/** The expected cost of threads. */
final class SpawnExpectation {
    private SpawnExpectation() {}

    /**
     * @param threadStackBytes null where the JVM does not say
     * @param roundsPerUs null unless the task burns
     */
    static Expected of(SpawnPlan plan, Long threadStackBytes, Double roundsPerUs, int cpus) {
        return switch (plan.task()) {
            case "sleep" -> plan.virtual()
                    ? new Expected(
                            "per_thread.native_threads",
                            "0",
                            0.0,
                            "a virtual thread has no thread of the kernel; its stack is in the heap while it sleeps (claim "
                                    + "spawn-memory)")
                    : new Expected(
                            "per_thread.virt_bytes",
                            "thread_stack_bytes",
                            threadStackBytes == null ? null : threadStackBytes.doubleValue(),
                            "a platform thread reserves its stack at once (claim spawn-memory)");
            case "burn" -> new Expected(
                    "done_s",
                    "count * burn_rounds / rounds_per_us / 1e6 / processors",
                    plan.count() * plan.burnRounds() / roundsPerUs / 1e6 / cpus,
                    "the same work whatever runs it, without what starting costs (claims spawn-cpu, spawn-exec)");
            default -> new Expected(
                    "started_s",
                    "none",
                    null,
                    "claim spawn-time: its program does not join, so that it is about started_s");
        };
    }
}
