package jdkmatrix.standalone.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Asks the kernel to wake the calling thread on time: by default a timed wait may end 50 µs late (prctl(2),
 * PR_SET_TIMERSLACK), which would stand in the lateness of every submission.
 */
public final class TimerSlack {
    private TimerSlack() {}

    /**
     * Sets the slack of the calling thread, a platform thread, to 1 ns.
     *
     * @return false where /proc does not allow it; lateness then shows the difference
     */
    public static boolean minimise() {
        try {
            // "PID/task/TID"; the file exists only under /proc/TID.
            Path tid = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName();
            Files.writeString(Path.of("/proc").resolve(tid).resolve("timerslack_ns"), "1");
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
