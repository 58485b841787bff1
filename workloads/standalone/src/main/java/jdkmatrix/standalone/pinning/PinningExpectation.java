package jdkmatrix.standalone.pinning;

import jdkmatrix.standalone.result.Expected;

/** The number of blocking calls that can be under way at once, as HotSpot is documented to behave. */
final class PinningExpectation {
    /** JEP 491: a virtual thread in synchronized or Object.wait gives its carrier back. */
    private static final int UNPINNED_MONITORS = 24;

    private PinningExpectation() {}

    /**
     * @param feature release of the JDK, such as 21
     * @param carriers parallelism of the scheduler
     * @param maxCarriers including those that stand in for blocked ones
     */
    static Expected of(PinningPlan plan, int feature, int carriers, int maxCarriers) {
        double perS = 1e3 / plan.blockMs();
        if (!plan.virtual()) {
            return expected(
                    "kernel_threads", plan.kernelThreads() * perS, "a platform thread has nothing to pin (claim pinning-kernel)");
        }
        int threads = plan.threads();
        return switch (Construct.parse(plan.construct())) {
            case LOCK -> expected("threads", threads * perS, "a ReentrantLock does not pin (claim pinning-fixed)");
            case SYNCHRONIZED -> feature >= UNPINNED_MONITORS
                    ? expected("threads", threads * perS, "JEP 491: from JDK 24 on synchronized does not pin")
                    : expected(
                            "min(threads, carriers)",
                            Math.min(threads, carriers) * perS,
                            "before JDK 24 synchronized pins: as many at once as there are carriers (claim pinning-sync)");
            case OBJECT_WAIT -> feature >= UNPINNED_MONITORS
                    ? expected("threads", threads * perS, "JEP 491: from JDK 24 on Object.wait does not pin")
                    : expected(
                            "min(threads, max_pool_size)",
                            Math.min(threads, maxCarriers) * perS,
                            "JEP 444: Object.wait pins, and the scheduler makes up for it with more carriers, up to maxPoolSize");
            case CONTENDED_LOCK -> expected(
                    "threads", threads * perS, "who waits for a ReentrantLock is parked, and the other threads have the carriers");
            case CONTENDED_MONITOR -> feature >= UNPINNED_MONITORS
                    ? expected("threads", threads * perS, "JEP 491: from JDK 24 on who waits for a monitor gives its carrier back")
                    : new Expected(
                            "throughput_per_s",
                            "0",
                            0.0,
                            "before JDK 24 who waits for a monitor keeps its carrier, and none is left (claim pinning-sync)");
            case CLASS_INIT -> expected(
                    "min(threads, carriers)",
                    Math.min(threads, carriers) * perS,
                    "a static initialiser is called from native code, which pins; JEP 491 leaves that as it is");
            case NATIVE -> expected(
                    "min(threads, carriers)",
                    Math.min(threads, carriers) * perS,
                    "a native frame pins; JEP 491 leaves that as it is");
        };
    }

    private static Expected expected(String atOnce, double perS, String source) {
        return new Expected("throughput_per_s", atOnce + " * 1000 / block_ms", perS, source);
    }
}
