package jdkmatrix.standalone.result;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;

/**
 * The JVM that ran the experiment, and what it was given.
 *
 * @param options those of the command line and of JAVA_TOOL_OPTIONS
 * @param processors CPUs that the JVM may use, given the CPU set and CPU quota of its cgroup
 */
public record Vm(
        String javaVersion,
        String name,
        String vmVersion,
        String vendor,
        List<String> options,
        int processors,
        long maxHeapBytes,
        List<String> collectors,
        String kernel,
        String arch) {
    static Vm here() {
        return new Vm(
                Runtime.version().toString(),
                System.getProperty("java.vm.name"),
                System.getProperty("java.vm.version"),
                System.getProperty("java.vendor"),
                ManagementFactory.getRuntimeMXBean().getInputArguments(),
                Runtime.getRuntime().availableProcessors(),
                Runtime.getRuntime().maxMemory(),
                ManagementFactory.getGarbageCollectorMXBeans().stream()
                        .map(GarbageCollectorMXBean::getName)
                        .toList(),
                System.getProperty("os.version"),
                System.getProperty("os.arch"));
    }
}
