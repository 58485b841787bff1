package jdkmatrix.remote;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Asks the kernel to wake the calling thread on time: by default epoll's waits may end 50 µs late (prctl(2),
 * PR_SET_TIMERSLACK), which would stand in every answer's lateness.
 */
final class TimerSlack {
    private TimerSlack() {}

    /** Sets the slack of the calling thread to 1 ns. Where /proc does not allow it, lateness shows the difference. */
    static void minimise() {
        try {
            // "PID/task/TID"; the file exists only under /proc/TID.
            Path tid = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName();
            Files.writeString(Path.of("/proc").resolve(tid).resolve("timerslack_ns"), "1");
        } catch (IOException e) {
            System.err.println("remote: timer slack stays at its default: " + e.getMessage());
        }
    }
}
