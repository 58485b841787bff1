package jdkmatrix.standalone.pinning;

import java.util.List;
import jdkmatrix.common.histogram.Distribution;

/**
 * jdk.VirtualThreadPinned events in the measured time: a virtual thread parked and could not give its carrier back.
 * Before JDK 24, blocking in Object.wait makes no such event.
 *
 * @param probe "on", or "unavailable" with a reason
 * @param stacks the most frequent first
 */
public record PinnedReport(
        String probe, String reason, Long count, Double totalS, Distribution pinned, List<Stack> stacks) {
    /**
     * @param reason the JVM's own word; null before JDK 24
     * @param frames from the top
     */
    public record Stack(long count, String reason, List<String> frames) {}

    static PinnedReport unavailable(String reason) {
        return new PinnedReport("unavailable", reason, null, null, null, null);
    }
}
