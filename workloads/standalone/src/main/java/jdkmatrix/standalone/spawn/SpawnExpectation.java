package jdkmatrix.standalone.spawn;

import jdkmatrix.standalone.result.Expected;

/** What threads should cost. */
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
                            "a virtual thread has no thread of the kernel; its stack is in the heap while it sleeps. "
                                    + "spawn-memory published 4.4 MB for 10,000: that column is KiB of address space, so 4.3 GiB")
                    : new Expected(
                            "per_thread.virt_bytes",
                            "thread_stack_bytes",
                            threadStackBytes == null ? null : threadStackBytes.doubleValue(),
                            "a platform thread reserves its stack at once; spawn-memory published 14.3 GB of address "
                                    + "space for 10,000 with -Xss1m");
            case "burn" -> new Expected(
                    "done_s",
                    "count * burn_rounds / rounds_per_us / 1e6 / processors",
                    plan.count() * plan.burnRounds() / roundsPerUs / 1e6 / cpus,
                    "the same work whatever runs it, without what starting costs: spawn-cpu and spawn-exec saw no difference");
            default -> new Expected(
                    "started_s",
                    "none",
                    null,
                    "spawn-time published 0.998 s (platform) and 0.091 s (virtual) for 10,000, which is started_s: its "
                            + "program does not join");
        };
    }
}
