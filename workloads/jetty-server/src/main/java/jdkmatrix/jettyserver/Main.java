package jdkmatrix.jettyserver;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import jdkmatrix.common.command.Numbers;
import jdkmatrix.common.command.Program;
import jdkmatrix.serverprobes.Json;
import org.eclipse.jetty.util.Jetty;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command line. Prints one JSON line, {@code {"event":"ready","port":N,…}}, when requests are awaited; a SIGTERM
 * ends the process at once, whatever is in flight, as it does any JVM (status 143). Exit status: 1 it could not listen,
 * 2 wrong usage.
 */
@Command(
        name = "jetty-server",
        description = "Serves an application under test with Eclipse Jetty, HTTP/1.1 on 127.0.0.1, until a SIGTERM.",
        mixinStandardHelpOptions = true)
public final class Main implements Callable<Integer> {
    private static final int MAX_PORT = 65_535;

    @Spec
    private CommandSpec command;

    @Option(names = "--port", required = true, paramLabel = "N", description = "0: any free one")
    private int port;

    @Option(names = "--application", required = true, paramLabel = "NAME", description = Application.ALLOWED)
    private String application;

    @Option(names = "--executor", required = true, paramLabel = "NAME", description = "what runs requests: " + RequestThreads.ALLOWED)
    private String executor;

    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        return Program.commandLine(new Main(), Exception::getMessage, "jetty " + Jetty.VERSION);
    }

    @Override
    public Integer call() throws Exception {
        Program.checked(command, () -> Numbers.whole("--port", port, 0, MAX_PORT));
        Application served = Program.checked(command, () -> Application.named("--application", application));
        RequestThreads threads = Program.checked(command, () -> RequestThreads.named("--executor", executor));
        JettyServer server = JettyServer.start(port, served, threads);
        Map<String, Object> ready = new LinkedHashMap<>();
        ready.put("event", "ready");
        ready.put("port", server.port());
        ready.put("application", application);
        ready.put("executor", executor);
        ready.put("version", Program.version());
        ready.put("jetty", Jetty.VERSION);
        ready.put("java_version", Runtime.version().toString());
        System.out.println(Json.object(ready));
        System.out.flush();
        server.join();
        return CommandLine.ExitCode.OK;
    }
}
