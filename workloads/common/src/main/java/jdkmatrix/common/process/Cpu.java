package jdkmatrix.common.process;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** CPU time of this process. */
public final class Cpu {
    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private Cpu() {}

    /** Of all its threads, ended ones too, in user and kernel mode. */
    public static long processNs() {
        return SYSTEM.getProcessCpuTime();
    }
}
