package jdkmatrix.common.jvm;

import javax.management.JMRuntimeException;
import javax.management.ObjectName;

/** What threads have allocated in the heap. */
public final class Allocation {
    private static final ObjectName THREADS = Jmx.name("java.lang:type=Threading");

    private Allocation() {}

    /**
     * By all threads since the start of the process, virtual ones on their carriers; null before JDK 21, and where the JVM
     * does not count.
     */
    public static Long bytes() {
        try {
            Long bytes = Jmx.whole(THREADS, "TotalThreadAllocatedBytes");
            return bytes == null || bytes < 0 ? null : bytes;
        } catch (JMRuntimeException unsupported) {
            return null;
        }
    }
}
