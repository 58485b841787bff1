package jdkmatrix.embedded;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.BindException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;
import jdkmatrix.common.command.Numbers;
import jdkmatrix.common.command.Program;
import jdkmatrix.requestexecutor.Kind;
import jdkmatrix.requestexecutor.RequestExecutor;
import jdkmatrix.requestexecutor.RequestExecutorMXBean;
import jdkmatrix.serverprobes.Json;
import jdkmatrix.serverprobes.OwnPoolMXBean;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command line of an embedded server. Prints one JSON line, {@code {"event":"ready","port":N,…}}, when it is ready
 * for requests; a SIGTERM ends the process at once, whatever is in flight, as with any JVM (status 143). Exit status: 1
 * if it could not listen, 2 for wrong usage.
 */
@Command(
        name = "server",
        description = "Serves an application under test, HTTP/1.1 on 127.0.0.1, until a SIGTERM.",
        mixinStandardHelpOptions = true)
public final class ServerProgram implements Callable<Integer> {
    private static final int MAX_PORT = 65_535;

    private final EmbeddedServer server;

    @Spec
    private CommandSpec command;

    @Option(names = "--port", required = true, paramLabel = "N", description = "0: any free one")
    private int port;

    @Option(
            names = "--application",
            required = true,
            paramLabel = "NAME",
            description = Application.ALLOWED + "; of a server that deploys one, the path of a WAR")
    private String application;

    @Option(
            names = "--executor",
            required = true,
            paramLabel = "NAME",
            description = "what runs requests: own, as the server comes; own-N, with N threads, where it can; or one of the "
                    + "catalogue")
    private String executor;

    private ServerProgram(EmbeddedServer server) {
        this.server = server;
    }

    /** Runs the program and ends the process with its exit status. */
    public static void run(EmbeddedServer server, String... arguments) {
        System.exit(commandLine(server).execute(arguments));
    }

    static CommandLine commandLine(EmbeddedServer server) {
        return Program.commandLine(new ServerProgram(server), Exception::getMessage, "server " + server.version());
    }

    @Override
    public Integer call() throws Exception {
        Program.checked(command, () -> Numbers.whole("--port", port, 0, MAX_PORT));
        Starter served = Program.checked(command, this::served);
        boolean own = Kind.parsed(executor).map(Kind::row).filter(server.own()::contains).isPresent();
        Optional<RequestExecutor> plugged = own
                ? Optional.empty()
                : Optional.of(RequestExecutor.of(Program.checked(command, this::catalogued)));
        int listening = start(served, plugged);
        if (plugged.isPresent()) {
            register(RequestExecutorMXBean.NAME, plugged.get());
        } else if (server.ownPool() != null) {
            register(OwnPoolMXBean.NAME, server.ownPool());
        }
        Map<String, Object> ready = new LinkedHashMap<>();
        ready.put("event", "ready");
        ready.put("port", listening);
        ready.put("application", application);
        ready.put("executor", executor);
        ready.put("version", server.version());
        ready.put("java_version", Runtime.version().toString());
        System.out.println(Json.object(ready));
        System.out.flush();
        new CountDownLatch(1).await();
        return 0;
    }

    private Kind catalogued() {
        if (!server.takesExecutors()) {
            throw new IllegalArgumentException("--executor = \"%s\": this server has none but %s"
                    .formatted(executor, String.join(", ", server.own().stream().sorted().toList())));
        }
        return Kind.named(executor);
    }

    private Starter served() {
        if (!(server instanceof WarServer deployer) || !application.endsWith(WarServer.SUFFIX)) {
            Application named = Application.named("--application", application);
            return plugged -> server.start(port, named, executor, plugged);
        }
        Path war = Path.of(application);
        if (!Files.isRegularFile(war)) {
            throw new IllegalArgumentException("--application = \"%s\": there is no such WAR".formatted(application));
        }
        return plugged -> deployer.deploy(port, war, executor, plugged);
    }

    private int start(Starter served, Optional<RequestExecutor> plugged) throws Exception {
        try {
            return served.start(plugged);
        } catch (Exception failure) {
            List<Throwable> causes = Stream.<Throwable>iterate(failure, each -> each != null, Throwable::getCause).toList();
            Optional<Throwable> bound = causes.stream().filter(BindException.class::isInstance).findFirst();
            if (bound.isPresent()) {
                throw new IOException(
                        "%s:%d cannot be bound: %s".formatted(EmbeddedServer.HOST, port, bound.get().getMessage()), failure);
            }
            if (application.endsWith(WarServer.SUFFIX)) {
                throw new IOException("%s does not deploy: %s".formatted(application, causes.getLast().getMessage()), failure);
            }
            throw failure;
        }
    }

    /** Starts to listen and returns the port. */
    @FunctionalInterface
    private interface Starter {
        int start(Optional<RequestExecutor> plugged) throws Exception;
    }

    private static void register(String name, Object gauges) throws JMException {
        ManagementFactory.getPlatformMBeanServer().registerMBean(gauges, new ObjectName(name));
    }
}
