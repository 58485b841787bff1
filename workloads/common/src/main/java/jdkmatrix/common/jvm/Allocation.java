package jdkmatrix.common.jvm;

import javax.management.JMRuntimeException;
import javax.management.ObjectName;

/** Heap allocation by threads. */
public final class Allocation {
    private static final ObjectName THREADS = Jmx.name("java.lang:type=Threading");

    private Allocation() {}

    /**
     * Returns the bytes allocated by all threads since the process started, by virtual ones on their carriers; null
     * before JDK 21 and if the JVM does not count.
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
