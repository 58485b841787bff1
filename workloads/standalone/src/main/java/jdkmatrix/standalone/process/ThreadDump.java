package jdkmatrix.standalone.process;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** All threads and their stacks, virtual ones included, as the JVM writes them. */
public final class ThreadDump {
    private ThreadDump() {}

    /** Returns the dump, or why there is none. */
    public static String text() {
        HotSpotDiagnosticMXBean jvm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        if (jvm == null) {
            return "this JVM writes no dump of its threads";
        }
        try {
            // dumpThreads writes to a new file only.
            Path folder = Files.createTempDirectory("threads");
            Path file = folder.resolve("dump");
            try {
                jvm.dumpThreads(file.toString(), ThreadDumpFormat.TEXT_PLAIN);
                return Files.readString(file);
            } finally {
                Files.deleteIfExists(file);
                Files.delete(folder);
            }
        } catch (IOException | UnsupportedOperationException none) {
            return "no dump of its threads: " + none;
        }
    }
}
