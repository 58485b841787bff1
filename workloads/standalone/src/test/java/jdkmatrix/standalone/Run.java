package jdkmatrix.standalone;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One run of the program, in this process or in one of its own. */
record Run(int status, String out, String err) {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int WAIT_S = 600;

    static Run here(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status = Main.commandLine()
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(arguments);
        return new Run(status, out.toString(), err.toString());
    }

    /** @param shell commands before the program takes the shell's place, such as {@code ulimit}; may be empty */
    static Run inProcess(String shell, List<String> jvmOptions, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                "sh",
                "-c",
                shell + (shell.isEmpty() ? "" : " && ") + "exec \"$0\" \"$@\"",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(jvmOptions);
        command.add(Main.class.getName());
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).start();
        try {
            StringBuilder err = new StringBuilder();
            Thread reader = Thread.ofVirtual().start(() -> process.errorReader(StandardCharsets.UTF_8)
                    .lines()
                    .forEach(line -> err.append(line).append('\n')));
            String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(WAIT_S, TimeUnit.SECONDS)) {
                throw new AssertionError("still running after %d s: %s".formatted(WAIT_S, command));
            }
            reader.join();
            return new Run(process.exitValue(), out, err.toString());
        } finally {
            process.destroyForcibly();
        }
    }

    /** Returns the last line of standard output. */
    JsonNode json() throws IOException {
        List<String> lines = out.lines().toList();
        if (lines.isEmpty()) {
            throw new AssertionError("nothing on standard output; on standard error: " + err);
        }
        return JSON.readTree(lines.getLast());
    }
}
