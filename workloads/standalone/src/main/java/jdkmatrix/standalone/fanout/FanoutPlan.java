package jdkmatrix.standalone.fanout;

/**
 * The parameters of the experiment.
 *
 * @param delayIsMean delays differ, and {@code delayMs} is their mean
 * @param how as {@link How#parse} reads it
 */
public record FanoutPlan(
        String url, int requests, double delayMs, boolean delayIsMean, String how, int warmupRequests, double timeoutS) {}
