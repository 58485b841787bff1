package jdkmatrix.tomcatserver;

import java.util.Optional;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;
import jdkmatrix.embedded.Application;
import jdkmatrix.embedded.EmbeddedServer;
import jdkmatrix.embedded.ServerProgram;
import jdkmatrix.requestexecutor.RequestExecutor;
import jdkmatrix.serverprobes.OwnPoolMXBean;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.session.StandardManager;
import org.apache.catalina.startup.Tomcat;
import org.apache.catalina.util.ServerInfo;
import org.apache.coyote.http11.Http11NioProtocol;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;

/**
 * Tomcat, as it comes except where Open Liberty is told otherwise or has another default.
 *
 * <p>A poller finds the connections that have something to read, and hands each to the connector's executor. That is Tomcat's
 * own pool, its own virtual threads ({@code useVirtualThreads}), or any other that the connector is given: what is compared
 * has the same way through the server and differs in its threads alone.
 */
public final class TomcatServer implements EmbeddedServer {
    private static final String OWN_VIRTUAL = "own-virtual";
    private static final int NO_LIMIT = -1;
    /** Kept, so that its level is. What Tomcat warns of goes to standard error. */
    private static final Logger LOG = Logger.getLogger("org.apache");

    private final Http11NioProtocol http = new Http11NioProtocol();

    public static void main(String[] args) {
        LOG.setLevel(Level.WARNING);
        ServerProgram.run(new TomcatServer(), args);
    }

    @Override
    public String version() {
        return ServerInfo.getServerNumber();
    }

    @Override
    public Set<String> own() {
        return Set.of(OWN, OWN_VIRTUAL);
    }

    @Override
    public int start(int port, Application application, String executor, Optional<RequestExecutor> plugged)
            throws Exception {
        http.setMaxKeepAliveRequests(NO_LIMIT);
        http.setMaxConnections(NO_LIMIT);
        http.setAcceptCount(BACKLOG);
        http.setConnectionTimeout(KEPT_MS);
        http.setKeepAliveTimeout(KEPT_MS);
        Connector connector = new Connector(http);
        connector.setProperty("address", HOST);
        connector.setProperty("useVirtualThreads", String.valueOf(executor.equals(OWN_VIRTUAL)));
        connector.setPort(port);
        connector.setThrowOnFailure(true);

        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(System.getProperty("java.io.tmpdir"));
        tomcat.setConnector(connector);
        Context context = tomcat.addContext(application.contextRoot(), null);
        context.addServletContainerInitializer(application, null);
        // Nobody asks for a session; the platform's own random numbers are there at once.
        StandardManager sessions = new StandardManager();
        sessions.setSecureRandomAlgorithm("");
        context.setManager(sessions);
        plugged.ifPresent(threads -> {
            http.setExecutor(threads.executor());
            if (threads.isPerRequest()) {
                tomcat.getEngine().getPipeline().addValve(new ThreadPerRequest(threads.threads()));
            }
        });
        tomcat.start();
        return connector.getLocalPort();
    }

    @Override
    public OwnPoolMXBean ownPool() {
        return http.getExecutor() instanceof ThreadPoolExecutor pool ? new OwnPool(pool) : null;
    }

    private record OwnPool(ThreadPoolExecutor pool) implements OwnPoolMXBean {
        @Override
        public int getPoolSize() {
            return pool.getPoolSize();
        }

        @Override
        public int getActive() {
            return pool.getActiveCount();
        }

        @Override
        public int getQueued() {
            return pool.getQueue().size();
        }
    }
}
