package jdkmatrix.standalone.fanout;

import jdkmatrix.standalone.result.Expected;

/** The expected time of requests that wait for nothing but a server that answers after a delay. */
final class FanoutExpectation {
    private FanoutExpectation() {}

    /** Returns ceil(requests / at_once) * delay, in seconds. */
    static double idealS(int requests, Integer atOnce, double delayMs) {
        long rounds = atOnce == null ? 1 : Math.ceilDiv(requests, atOnce);
        return rounds * delayMs / 1e3;
    }

    static Expected of(FanoutPlan plan, Integer atOnce) {
        return new Expected(
                "wall_s",
                atOnce == null ? "delay_ms / 1000" : "ceil(requests / at_once) * delay_ms / 1000",
                idealS(plan.requests(), atOnce, plan.delayMs()),
                plan.delayIsMean()
                        ? "of the mean of the delays, and so on average a lower bound: the slowest answers come later (claims "
                                + "fanout-platform, fanout-pool100, fanout-virtual)"
                        : "waiting costs no CPU (claims fanout-platform, fanout-pool100, fanout-virtual)");
    }
}
