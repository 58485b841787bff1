package jdkmatrix.standalone.burn;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import jdk.jfr.Recording;
import jdkmatrix.standalone.process.Sampler;

/**
 * Records every park of every platform thread, however short, with JDK Flight Recorder in this process. A carrier without
 * a virtual thread on it parks as itself, so that its parks carry its own name and group.
 *
 * <p>The recorder writes an event when a park is over: one that never ends is not seen. So callers wake all workers
 * before {@link #finish}.
 */
final class ParkProbe implements AutoCloseable {
    private static final long ANCHOR_PERIOD_MS = 100;

    private final Path file;
    private final Sampler anchors = new Sampler("clock-anchors", ANCHOR_PERIOD_MS, ClockAnchor::drop);
    private Recording recording;

    private ParkProbe(Path file) {
        this.file = file;
    }

    static ParkProbe start() throws IOException {
        ParkProbe probe = new ParkProbe(Files.createTempFile("parks", ".jfr"));
        probe.recording = newRecording();
        probe.recording.start();
        probe.anchors.start();
        return probe;
    }

    /** Drops what was recorded until now; the recorder's own warm-up is over. */
    void restart() {
        Recording next = newRecording();
        next.start();
        recording.close();
        recording = next;
        ClockAnchor.drop();
    }

    /**
     * Ends the recording and reads it.
     *
     * @throws IllegalArgumentException when the recording's times cannot be mapped
     */
    ParkLog finish(Workers workers) throws IOException {
        anchors.close();
        ClockAnchor.drop();
        recording.stop();
        recording.dump(file);
        return ParkLog.read(file, workers);
    }

    @Override
    public void close() throws IOException {
        anchors.close();
        recording.close();
        Files.deleteIfExists(file);
    }

    private static Recording newRecording() {
        Recording recording = new Recording();
        recording.setName("parks");
        recording.setToDisk(true);
        recording.enable(ParkLog.PARK).withThreshold(Duration.ZERO).withoutStackTrace();
        recording.enable(ParkLog.LOSS);
        recording.enable(ClockAnchor.class).withoutStackTrace();
        return recording;
    }
}
