package jdkmatrix.helidonserver;

import io.helidon.common.Version;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Level;
import java.util.logging.Logger;
import jdkmatrix.embedded.Application;
import jdkmatrix.embedded.EmbeddedServer;
import jdkmatrix.embedded.ServerProgram;
import jdkmatrix.mpping.Ping;
import jdkmatrix.pinning.Endpoints;
import jdkmatrix.requestexecutor.RequestExecutor;
import jdkmatrix.serverprobes.OwnPoolMXBean;
import jdkmatrix.serverprobes.Probe;
import jdkmatrix.serverprobes.Problem;

/**
 * Helidon SE with its defaults, except where Open Liberty is configured otherwise or has another default. Each
 * connection has a virtual thread, which serves its requests one after another. There is no other way.
 */
public final class HelidonServer implements EmbeddedServer {
    /** Held here so that its level is kept. Helidon's warnings go to standard error. */
    private static final Logger LOG = Logger.getLogger("io.helidon");
    /** The only logger on which Helidon says why it has not started. */
    private static final Logger STARTING = Logger.getLogger("io.helidon.webserver.LoomServer");

    public static void main(String[] args) {
        LOG.setLevel(Level.WARNING);
        ServerProgram.run(new HelidonServer(), args);
    }

    @Override
    public String version() {
        return Version.VERSION;
    }

    @Override
    public boolean takesExecutors() {
        return false;
    }

    @Override
    public int start(int port, Application application, String executor, Optional<RequestExecutor> none)
            throws IOException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        STARTING.setFilter(said -> {
            failure.compareAndSet(null, said.getThrown());
            return false;
        });
        WebServer server = WebServer.builder()
                .host(HOST)
                .port(port)
                .backlog(BACKLOG)
                .idleConnectionTimeout(Duration.ofMillis(KEPT_MS))
                .shutdownHook(false)
                .routing(routing -> route(application, routing))
                .build()
                .start();
        STARTING.setFilter(null);
        if (!server.isRunning()) {
            throw new IOException("Helidon has not started", failure.get());
        }
        return server.port();
    }

    private static void route(Application application, HttpRouting.Builder routing) {
        String root = application.contextRoot();
        Probe.BY_PATH.forEach((path, probe) -> routing.get(root + path, probe(probe)));
        switch (application) {
            case MP_PING -> routing.get(
                    root + "/ping", (request, response) -> text(response, Ping.answer(parameter(request, "burn_us"))));
            case BANKING, BANK_SQL -> BankRouting.add(root, routing);
            case PINNING -> routing.any(root + "/servlet/{name}", pinning(new Endpoints()));
        }
        routing.error(Problem.class, (request, response, problem) ->
                text(response.status(problem.status()), problem.getMessage() + "\n"));
    }

    private static Handler probe(Probe probe) {
        return (request, response) -> json(response, probe.answer(name -> parameter(request, name)));
    }

    private static Handler pinning(Endpoints endpoints) {
        return (request, response) -> {
            String method = request.prologue().method().text();
            String path = "/" + request.path().pathParameters().get("name");
            text(response, endpoints.answer(method, path, name -> parameter(request, name)) + "\n");
        };
    }

    /** Returns null if the query does not have it. */
    static String parameter(ServerRequest request, String name) {
        return request.query().first(name).orElse(null);
    }

    static void json(ServerResponse response, String text) {
        body(response, "application/json", text.getBytes(StandardCharsets.UTF_8));
    }

    private static void text(ServerResponse response, String text) {
        body(response, "text/plain;charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
    }

    static void body(ServerResponse response, String contentType, byte[] body) {
        response.header("Content-Type", contentType);
        response.send(body);
    }

    @Override
    public OwnPoolMXBean ownPool() {
        return null;
    }
}
