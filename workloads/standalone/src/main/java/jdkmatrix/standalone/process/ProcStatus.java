package jdkmatrix.standalone.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The kernel's figures of this process in /proc/self/status (proc_pid_status(5)).
 *
 * @param virtBytes address space, the column VIRT of top(1)
 * @param rssBytes resident memory
 * @param threads native threads
 */
public record ProcStatus(long virtBytes, long virtPeakBytes, long rssBytes, long rssPeakBytes, int threads) {
    private static final long KIB = 1024;

    static ProcStatus now() throws IOException {
        return parse(Files.readAllLines(Path.of("/proc/self/status")));
    }

    /** @throws IOException when a line is missing or is not in the kernel's format */
    static ProcStatus parse(List<String> lines) throws IOException {
        return new ProcStatus(
                kib(lines, "VmSize:") * KIB,
                kib(lines, "VmPeak:") * KIB,
                kib(lines, "VmRSS:") * KIB,
                kib(lines, "VmHWM:") * KIB,
                Math.toIntExact(number(lines, "Threads:", "")));
    }

    /** Returns how many native threads this process has now. */
    public static int threadsNow() throws IOException {
        return now().threads();
    }

    static long kib(List<String> lines, String key) throws IOException {
        return number(lines, key, " kB");
    }

    private static long number(List<String> lines, String key, String unit) throws IOException {
        for (String line : lines) {
            if (line.startsWith(key) && line.endsWith(unit)) {
                String text = line.substring(key.length(), line.length() - unit.length()).strip();
                try {
                    return Long.parseLong(text);
                } catch (NumberFormatException e) {
                    throw new IOException("\"%s\" is not what proc(5) describes".formatted(line), e);
                }
            }
        }
        throw new IOException("no line \"%s\" in what the kernel says of this process".formatted(key));
    }
}
