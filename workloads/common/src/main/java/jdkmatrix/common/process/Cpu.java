package jdkmatrix.common.process;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** CPU time of this process. */
public final class Cpu {
    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private Cpu() {}

    /** Returns the CPU time of all its threads, including ended ones, in user and kernel mode. */
    public static long processNs() {
        return SYSTEM.getProcessCpuTime();
    }
}
