package jdkmatrix.remote;

import io.netty.util.Version;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.concurrent.Callable;
import jdkmatrix.common.command.Numbers;
import jdkmatrix.common.command.Program;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command line. Prints one JSON line, {@code {"event":"ready","port":N,…}}, once it accepts requests; the end of
 * standard input ends the process. Exit status: 0 standard input ended, 1 it could not listen, 2 wrong usage.
 */
@Command(
        name = "remote",
        description = "Plays the remote system that an application calls: an HTTP/1.1 server on 127.0.0.1 that answers "
                + "after a delay, and tells how late its answers were. Ends with its standard input.",
        mixinStandardHelpOptions = true)
public final class Main implements Callable<Integer> {
    private static final int MAX_PORT = 65_535;
    private static final int MAX_THREADS = 256;

    static {
        // Netty's leak detector takes a stack trace every so many requests. Buffers here live in one method.
        System.setProperty("io.netty.leakDetection.level", "disabled");
        // No host name is ever resolved.
        System.setProperty("vertx.disableDnsResolver", "true");
    }

    @Spec
    private CommandSpec command;

    @Option(names = "--port", defaultValue = "0", paramLabel = "N", description = "0: any free one (default: ${DEFAULT-VALUE})")
    private int port;

    @Option(names = "--threads", defaultValue = "1", paramLabel = "N", description = "event loops (default: ${DEFAULT-VALUE})")
    private int threads;

    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        return Program.commandLine(new Main(), Exception::getMessage, "netty " + netty());
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Program.checked(command, () -> Numbers.whole("--port", port, 0, MAX_PORT));
        Program.checked(command, () -> Numbers.whole("--threads", threads, 1, MAX_THREADS));
        RemoteServer server = RemoteServer.start(port, threads);
        Rehearsal.play(server.port());
        System.out.println(new JsonObject()
                .put("event", "ready")
                .put("port", server.port())
                .put("version", Program.version())
                .put("netty", netty())
                .put("java_version", Runtime.version().toString())
                .put("transport", "epoll")
                .encode());
        System.out.flush();
        while (System.in.read() != -1) {
            // No input is expected, only its end.
        }
        // Whoever held the other end is gone or has had enough, so exit without waiting for anything.
        Runtime.getRuntime().halt(0);
        return CommandLine.ExitCode.OK;
    }

    static String netty() {
        return Version.identify().get("netty-transport").artifactVersion();
    }
}
