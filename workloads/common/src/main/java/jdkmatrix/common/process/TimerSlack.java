package jdkmatrix.common.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * Asks the kernel to wake the calling thread on time: by default a timed wait, of epoll for instance, may end 50 µs
 * late (prctl(2), PR_SET_TIMERSLACK), which would be part of every lateness and latency that the thread measures.
 */
public final class TimerSlack {
    private TimerSlack() {}

    /**
     * Sets the slack of the calling thread, a platform thread, to 1 ns.
     *
     * @param kept is told why if /proc does not allow it; lateness then shows the difference
     */
    public static void minimise(Consumer<String> kept) {
        try {
            Files.writeString(file(), "1");
        } catch (IOException e) {
            kept.accept("timer slack stays at its default: " + e.getMessage());
        }
    }

    static Path file() throws IOException {
        // "PID/task/TID"; the file exists only under /proc/TID.
        Path tid = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName();
        return Path.of("/proc").resolve(tid).resolve("timerslack_ns");
    }
}
