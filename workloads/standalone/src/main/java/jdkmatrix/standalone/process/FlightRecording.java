package jdkmatrix.standalone.process;

import jdk.jfr.FlightRecorder;

/** Whether JDK Flight Recorder can be used here. Other classes that use it are loaded only where it can. */
public final class FlightRecording {
    private FlightRecording() {}

    /** Null where it can be used, else why not. */
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

    /** Apart, since this class must load where jdk.jfr is absent. */
    private static final class Recorder {
        static boolean isAvailable() {
            return FlightRecorder.isAvailable();
        }
    }
}
