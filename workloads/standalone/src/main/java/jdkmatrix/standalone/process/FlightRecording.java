package jdkmatrix.standalone.process;

import jdk.jfr.FlightRecorder;

/** Tells whether JDK Flight Recorder can be used here. Other classes that use it are loaded only where it can. */
public final class FlightRecording {
    private FlightRecording() {}

    /** Returns null where it can be used, otherwise the reason why not. */
    public static String unavailable() {
        if (ModuleLayer.boot().findModule("jdk.jfr").isEmpty()) {
            return "this JDK has no module jdk.jfr";
        }
        try {
            return Recorder.isAvailable() ? null : "this JVM has no JDK Flight Recorder";
        } catch (LinkageError absent) {
            return "this JVM has no JDK Flight Recorder: " + absent.getMessage();
        }
    }

    /** A class of its own, since the outer class must load where jdk.jfr is absent. */
    private static final class Recorder {
        static boolean isAvailable() {
            return FlightRecorder.isAvailable();
        }
    }
}
