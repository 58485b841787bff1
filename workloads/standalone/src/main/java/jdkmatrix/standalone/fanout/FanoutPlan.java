package jdkmatrix.standalone.fanout;

/**
 * What was asked for.
 *
 * @param how as {@link How#parse} reads it
 */
public record FanoutPlan(String url, int requests, double delayMs, String how, int warmupRequests, double timeoutS) {}
