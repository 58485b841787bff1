package jdkmatrix.jettyserver;

import java.io.IOException;
import java.time.Duration;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** Jetty with one application. It is as it comes, except where Open Liberty is told otherwise or has another default. */
final class JettyServer {
    private static final String HOST = "127.0.0.1";
    /** A connection lives as long as the driver keeps it, so that no cell pays for reconnects that others do not. */
    private static final Duration KEPT = Duration.ofHours(1);
    /** Connections that wait to be accepted, as Open Liberty has it; Jetty's default, 50, drops those of a larger driver. */
    private static final int BACKLOG = 511;

    private final Server server;
    private final ServerConnector connector;

    private JettyServer(int port, Application application, RequestThreads threads) {
        server = new Server(threads.pool());
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        connector = new ServerConnector(server, new HttpConnectionFactory(http));
        connector.setHost(HOST);
        connector.setPort(port);
        connector.setIdleTimeout(KEPT.toMillis());
        connector.setAcceptQueueSize(BACKLOG);
        server.addConnector(connector);
        server.setHandler(threads.around().apply(application.handler()));
    }

    /**
     * @param port 0: any free one
     * @throws IOException it cannot listen there
     */
    static JettyServer start(int port, Application application, RequestThreads threads) throws Exception {
        JettyServer started = new JettyServer(port, application, threads);
        try {
            started.connector.open();
        } catch (IOException taken) {
            Throwable why = taken.getCause() == null ? taken : taken.getCause();
            throw new IOException("%s:%d cannot be bound: %s".formatted(HOST, port, why.getMessage()), taken);
        }
        threads.register();
        started.server.start();
        return started;
    }

    int port() {
        return connector.getLocalPort();
    }

    /** Until the process ends. */
    void join() throws InterruptedException {
        server.join();
    }
}
