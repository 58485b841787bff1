package jdkmatrix.standalone.burn;

import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** An event that carries System.nanoTime from before and after the moment at which the recorder took its time. */
@Name(ClockAnchor.NAME)
@Label("Clock anchor")
@StackTrace(false)
final class ClockAnchor extends Event {
    static final String NAME = "jdkmatrix.ClockAnchor";
    static final String BEFORE = "beforeNs";
    static final String AFTER = "afterNs";
    private static final int TRIES = 5;

    @Label("System.nanoTime before")
    private long beforeNs;

    @Label("System.nanoTime after")
    private long afterNs;

    /** Commits the best of a few anchors. */
    static void drop() {
        ClockAnchor best = null;
        for (int i = 0; i < TRIES; i++) {
            ClockAnchor anchor = new ClockAnchor();
            anchor.beforeNs = System.nanoTime();
            anchor.begin();
            anchor.afterNs = System.nanoTime();
            if (best == null || anchor.afterNs - anchor.beforeNs < best.afterNs - best.beforeNs) {
                best = anchor;
            }
        }
        best.commit();
    }
}
