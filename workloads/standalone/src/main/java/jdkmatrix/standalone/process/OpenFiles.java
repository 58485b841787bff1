package jdkmatrix.standalone.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The open files of this process, and how many there may be. */
public final class OpenFiles {
    private static final Path FOLDER = Path.of("/proc/self/fd");
    private static final Path LIMITS = Path.of("/proc/self/limits");
    private static final String LIMIT = "Max open files";

    private OpenFiles() {}

    /**
     * The limit of setrlimit(2), RLIMIT_NOFILE. HotSpot raises the soft one to the hard one when it starts (MaxFDLimit).
     *
     * @param soft null: unlimited
     * @param hard null: unlimited
     */
    public record Limit(Long soft, Long hard) {
        public static Limit now() throws IOException {
            return parse(Files.readAllLines(LIMITS));
        }

        /** @throws IOException when there is no such line or it is not in the kernel's format */
        static Limit parse(List<String> lines) throws IOException {
            for (String line : lines) {
                if (line.startsWith(LIMIT)) {
                    String[] columns = line.substring(LIMIT.length()).strip().split("\\s+");
                    if (columns.length >= 2) {
                        return new Limit(number(columns[0]), number(columns[1]));
                    }
                }
            }
            throw new IOException("no usable line \"%s\" in %s".formatted(LIMIT, LIMITS));
        }

        private static Long number(String text) throws IOException {
            if (text.equals("unlimited")) {
                return null;
            }
            try {
                return Long.valueOf(text);
            } catch (NumberFormatException e) {
                throw new IOException("\"%s\" in %s is no limit".formatted(text, LIMITS), e);
            }
        }
    }

    /** @throws IOException also at the limit: looking takes one more open file */
    public static int count() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return Math.toIntExact(files.count() - 1);
        }
    }
}
