package jdkmatrix.standalone.result;

/**
 * When the figures were taken: the program's start, its warm-up and its writing are not in it. By
 * {@link System#nanoTime}, which on Linux is the monotonic clock of the whole host, so that who watches the host can
 * tell what happened meanwhile.
 */
public record MeasuredSpan(long startMonotonicNs, long endMonotonicNs) {}
