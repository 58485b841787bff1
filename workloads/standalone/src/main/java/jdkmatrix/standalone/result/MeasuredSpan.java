package jdkmatrix.standalone.result;

/**
 * The time in which the figures were taken, without the program's start, warm-up and writing. By
 * {@link System#nanoTime}, which on Linux is the monotonic clock of the whole host, so that whoever watches the host
 * can tell what happened meanwhile.
 */
public record MeasuredSpan(long startMonotonicNs, long endMonotonicNs) {}
