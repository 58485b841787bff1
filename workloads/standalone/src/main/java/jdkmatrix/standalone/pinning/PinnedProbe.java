package jdkmatrix.standalone.pinning;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordingFile;
import jdkmatrix.common.histogram.Distribution;
import jdkmatrix.common.histogram.Histograms;
import org.HdrHistogram.Histogram;

/** Records every pinning, however short, with JDK Flight Recorder in this process. */
final class PinnedProbe implements AutoCloseable {
    private static final String PINNED = "jdk.VirtualThreadPinned";
    private static final String REASON = "pinnedReason";
    /** The suffix that the recorder gives the name of a hidden class: an address, up to JDK 21 a decimal number. */
    private static final Pattern HIDDEN = Pattern.compile("[/+.](0x[0-9a-f]+|[0-9]+)");

    private static final int FRAMES = 12;
    private static final int STACKS = 5;

    private final Path file;
    private final Recording recording = new Recording();

    private PinnedProbe(Path file) {
        this.file = file;
    }

    static PinnedProbe start() throws IOException {
        PinnedProbe probe = new PinnedProbe(Files.createTempFile("pinned", ".jfr"));
        probe.recording.setName("pinned");
        probe.recording.setToDisk(true);
        probe.recording.enable(PINNED).withThreshold(Duration.ZERO).withStackTrace();
        probe.recording.start();
        return probe;
    }

    /** Ends the recording and reads the events that began from {@code from} until before {@code to}. */
    PinnedReport finish(Instant from, Instant to) throws IOException {
        recording.stop();
        recording.dump(file);
        Histogram durations = Histograms.create();
        Map<Place, Long> places = new HashMap<>();
        long totalNs = 0;
        try (RecordingFile events = new RecordingFile(file)) {
            while (events.hasMoreEvents()) {
                RecordedEvent event = events.readEvent();
                Instant began = event.getStartTime();
                if (event.getEventType().getName().equals(PINNED) && !began.isBefore(from) && began.isBefore(to)) {
                    long ns = event.getDuration().toNanos();
                    totalNs += ns;
                    Histograms.record(durations, ns);
                    places.merge(Place.of(event), 1L, Long::sum);
                }
            }
        }
        List<PinnedReport.Stack> stacks = places.entrySet().stream()
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .limit(STACKS)
                .map(entry -> new PinnedReport.Stack(
                        entry.getValue(), entry.getKey().reason(), entry.getKey().frames()))
                .toList();
        return new PinnedReport(
                "on", null, durations.getTotalCount(), totalNs / 1e9, Distribution.of(durations), stacks);
    }

    @Override
    public void close() throws IOException {
        recording.close();
        Files.deleteIfExists(file);
    }

    /** The place and the reason; events of one place are counted together. */
    private record Place(String reason, List<String> frames) {
        static Place of(RecordedEvent event) {
            RecordedStackTrace trace = event.getStackTrace();
            List<String> frames = trace == null
                    ? List.of()
                    : trace.getFrames().stream()
                            .filter(Place::isWritten)
                            .limit(FRAMES)
                            .map(Place::frame)
                            .toList();
            return new Place(event.hasField(REASON) ? nameless(event.getString(REASON)) : null, frames);
        }

        /** Returns whether it is in a source file: the JVM names code for lambdas and method handles anew each time. */
        private static boolean isWritten(RecordedFrame frame) {
            String type = frame.getMethod().getType().getName();
            return !type.startsWith("java.lang.invoke.LambdaForm$") && !type.contains("$$Lambda");
        }

        /** Removes the number that tells hidden classes of one name apart. */
        private static String nameless(String text) {
            return text == null ? null : HIDDEN.matcher(text).replaceAll("");
        }

        private static String frame(RecordedFrame frame) {
            String type = nameless(frame.getMethod().getType().getName());
            return "%s.%s:%d".formatted(type, frame.getMethod().getName(), frame.getLineNumber());
        }
    }
}
