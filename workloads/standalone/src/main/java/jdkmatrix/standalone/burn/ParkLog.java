package jdkmatrix.standalone.burn;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordedThreadGroup;
import jdk.jfr.consumer.RecordingFile;

/**
 * The times when workers were parked, from a recording.
 *
 * @param byBlocker parks by the class that the thread waited for, over the whole recording
 * @param lostBytes what the recorder could not write: parks are missing where it is above 0
 */
record ParkLog(List<WorkerParks> workers, ClockMap clock, Map<String, Long> byBlocker, long lostBytes) {
    static final String PARK = "jdk.ThreadPark";
    static final String LOSS = "jdk.DataLoss";

    /**
     * Parks of one thread in the order in which they ended, as System.nanoTime.
     *
     * @param fromNs and {@code toNs}: of the same length
     */
    record WorkerParks(long threadId, long[] fromNs, long[] toNs) {}

    /** Reads only events of {@code workers}' threads, whatever other threads parked. */
    static ParkLog read(Path file, Workers workers) throws IOException {
        Reader reader = new Reader(workers);
        try (RecordingFile recording = new RecordingFile(file)) {
            while (recording.hasMoreEvents()) {
                reader.take(recording.readEvent());
            }
        }
        return reader.log();
    }

    private static final class Reader {
        private final Workers workers;
        private final List<ClockMap.Anchor> anchors = new ArrayList<>();
        private final Map<Long, Parks> parks = new HashMap<>();
        private final Map<String, Long> byBlocker = new TreeMap<>();
        private long lostBytes;

        private record Parks(LongStream.Builder from, LongStream.Builder to) {}

        Reader(Workers workers) {
            this.workers = workers;
        }

        void take(RecordedEvent event) {
            switch (event.getEventType().getName()) {
                case PARK -> park(event);
                case ClockAnchor.NAME -> anchors.add(new ClockMap.Anchor(
                        ns(event.getStartTime()),
                        event.getLong(ClockAnchor.BEFORE),
                        event.getLong(ClockAnchor.AFTER)));
                case LOSS -> lostBytes += event.getLong("amount");
                default -> {
                    // Others are not enabled, but a recording that somebody else started may have some.
                }
            }
        }

        private void park(RecordedEvent event) {
            RecordedThread thread = event.getThread();
            if (thread == null) {
                return;
            }
            RecordedThreadGroup group = thread.getThreadGroup();
            if (!workers.has(thread.getJavaThreadId(), group == null ? null : group.getName(), thread.getJavaName())) {
                return;
            }
            Parks mine = parks.computeIfAbsent(
                    thread.getJavaThreadId(), id -> new Parks(LongStream.builder(), LongStream.builder()));
            mine.from().add(ns(event.getStartTime()));
            mine.to().add(ns(event.getEndTime()));
            RecordedClass blocker = event.getClass("parkedClass");
            byBlocker.merge(blocker == null ? "none" : blocker.getName(), 1L, Long::sum);
        }

        ParkLog log() {
            ClockMap clock = ClockMap.of(anchors);
            List<WorkerParks> mapped = new ArrayList<>();
            parks.forEach((id, times) -> mapped.add(new WorkerParks(
                    id,
                    times.from().build().map(clock::toNanoTime).toArray(),
                    times.to().build().map(clock::toNanoTime).toArray())));
            return new ParkLog(mapped, clock, byBlocker, lostBytes);
        }

        private static long ns(Instant time) {
            return time.getEpochSecond() * 1_000_000_000L + time.getNano();
        }
    }
}
