package jdkmatrix.remote;

import io.netty.util.Version;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command line. Prints one JSON line, {@code {"event":"ready","port":N,…}}, when requests are awaited; the end of
 * standard input ends the process. Exit status: 0 standard input ended, 1 it could not listen, 2 wrong usage.
 */
@Command(
        name = "remote",
        description = "Plays the remote system that an application calls: an HTTP/1.1 server on 127.0.0.1 that answers "
                + "after a delay, and tells how late its answers were. Ends with its standard input.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.class)
public final class Main implements Callable<Integer>, IVersionProvider {
    private static final int MAX_PORT = 65_535;
    private static final int MAX_THREADS = 256;

    static {
        // Netty's hunt for leaked buffers takes a stack trace every so many requests. Buffers here live in one method.
        System.setProperty("io.netty.leakDetection.level", "disabled");
        // No name is ever looked up.
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
        return new CommandLine(new Main())
                .setParameterExceptionHandler((exception, args) -> {
                    exception.getCommandLine().getErr().println(exception.getMessage());
                    return CommandLine.ExitCode.USAGE;
                })
                .setExecutionExceptionHandler((exception, line, parsed) -> {
                    line.getErr().println("remote: " + exception.getMessage());
                    return CommandLine.ExitCode.SOFTWARE;
                });
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        check("--port", port, 0, MAX_PORT);
        check("--threads", threads, 1, MAX_THREADS);
        RemoteServer server = RemoteServer.start(port, threads);
        Rehearsal.play(server.port());
        System.out.println(new JsonObject()
                .put("event", "ready")
                .put("port", server.port())
                .put("version", version())
                .put("netty", netty())
                .put("java_version", Runtime.version().toString())
                .put("transport", "epoll")
                .encode());
        System.out.flush();
        while (System.in.read() != -1) {
            // Nothing is expected, only the end.
        }
        // Whoever held the other end is gone or has enough: an exit that waits for nothing.
        Runtime.getRuntime().halt(0);
        return CommandLine.ExitCode.OK;
    }

    /** As the jar's manifest says; "development" where the classes were started without the jar. */
    static String version() {
        String version = Main.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    static String netty() {
        return Version.identify().get("netty-transport").artifactVersion();
    }

    @Override
    public String[] getVersion() {
        return new String[] {"remote " + version(), "netty " + netty(), "java " + Runtime.version()};
    }

    private void check(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw new ParameterException(
                    command.commandLine(), "%s = %d: %d to %d are allowed".formatted(option, value, min, max));
        }
    }
}
