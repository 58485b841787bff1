package jdkmatrix.standalone.hang;

import jdkmatrix.standalone.result.Expected;

/** The threads that go on, as HotSpot is documented to behave. */
final class HangExpectation {
    /** JEP 491: a virtual thread in synchronized gives its carrier back. */
    private static final int UNPINNED_MONITORS = 24;

    private HangExpectation() {}

    /**
     * @param feature release of the JDK, such as 21
     * @param carriers parallelism of the scheduler
     */
    static Expected of(HangPlan plan, int feature, int carriers) {
        if (!plan.virtual()) {
            return allGoOn("a platform thread needs no carrier");
        }
        if (plan.inside().equals("lock")) {
            return allGoOn("a thread that has a ReentrantLock gives its carrier back while it waits");
        }
        if (feature >= UNPINNED_MONITORS) {
            return allGoOn("JEP 491: from JDK 24 on a thread in synchronized gives its carrier back while it waits");
        }
        if (plan.count() - 1 < carriers) {
            return allGoOn("threads - 1 in synchronized keep their carriers, and one is left for the thread whose turn it is");
        }
        return expected(
                "0 where threads - 1 >= carriers",
                0.0,
                "before JDK 24 a thread in synchronized keeps its carrier while it waits, and none is left for the thread whose "
                        + "turn it is (claim netflix-hang)");
    }

    private static Expected allGoOn(String source) {
        return expected("100 %", 1.0, source);
    }

    private static Expected expected(String formula, double share, String source) {
        return new Expected("went_on_share", formula, share, source);
    }
}
