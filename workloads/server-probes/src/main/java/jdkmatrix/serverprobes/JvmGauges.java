package jdkmatrix.serverprobes;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.CompilationMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.util.Map;
import jdkmatrix.common.jvm.Allocation;

/** Memory, garbage collection and compilation. Counts and times are since the start of the process. */
final class JvmGauges {
    private JvmGauges() {}

    static void putInto(Map<String, Object> answer) {
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        answer.put("heap_used_bytes", heap.getUsed());
        answer.put("heap_committed_bytes", heap.getCommitted());
        answer.put("direct_buffer_bytes", bufferBytes("direct"));
        answer.put("mapped_buffer_bytes", bufferBytes("mapped"));
        long gcCount = 0;
        long gcMs = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            if (!pauses(collector.getName())) {
                continue;
            }
            // -1 where a collector does not say.
            gcCount += Math.max(0, collector.getCollectionCount());
            gcMs += Math.max(0, collector.getCollectionTime());
        }
        answer.put("gc_count", gcCount);
        answer.put("gc_ms", gcMs);
        answer.put("jit_ms", jitMs());
        answer.put("total_allocated_bytes", Allocation.bytes());
    }

    /**
     * Returns whether the bean reports pauses. ZGC and Shenandoah have other beans for their cycles ("ZGC Major
     * Cycles"), which run beside the application; those of G1 and the collectors before it report pauses only.
     */
    static boolean pauses(String collector) {
        return !collector.endsWith(" Cycles");
    }

    private static long bufferBytes(String pool) {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(candidate -> candidate.getName().equals(pool))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    private static long jitMs() {
        CompilationMXBean compilation = ManagementFactory.getCompilationMXBean();
        return compilation != null && compilation.isCompilationTimeMonitoringSupported()
                ? compilation.getTotalCompilationTime()
                : 0;
    }
}
