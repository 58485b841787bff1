package jdkmatrix.jettyserver;

import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import jdkmatrix.embedded.Application;
import jdkmatrix.embedded.ServerClasses;
import jdkmatrix.embedded.ServerProgram;
import jdkmatrix.embedded.WarServer;
import jdkmatrix.requestexecutor.RequestExecutor;
import jdkmatrix.serverprobes.OwnPoolMXBean;
import org.eclipse.jetty.ee.webapp.WebAppClassLoader;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.webapp.WebAppContext;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Jetty;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * Jetty with its defaults, except where Open Liberty is configured otherwise or has another default.
 *
 * <p>Its own pool, a {@link QueuedThreadPool}, always runs acceptors and selectors. A selector finds the connections
 * that have something to read. It either reads and serves a request itself, while a reserved thread of the pool takes
 * over the selecting, or hands it to an executor (Jetty's guide: Threading Architecture, Adaptive Execution Strategy).
 * The executor is the pool, or else that of {@link QueuedThreadPool#setVirtualThreadsExecutor}; with the latter there
 * are no reserved threads, so that no selector ever serves. Jetty does not check what that executor's threads are. Ours
 * are all plugged in there, so that the arms take the same way through the server and differ in their threads, and
 * in a mark that a request on a thread of its own sets and takes away ({@link ThreadPerRequest}).
 * The pool without reserved threads shows how much of a difference is due to those.
 */
public final class JettyServer implements WarServer {
    /** The name on the command line, and that of the threads of that pool. */
    private static final String NO_RESERVED = "own-no-reserved";

    private final QueuedThreadPool pool = new QueuedThreadPool();

    public static void main(String[] args) {
        ServerProgram.run(new JettyServer(), args);
    }

    @Override
    public String version() {
        return Jetty.VERSION;
    }

    @Override
    public Set<String> own() {
        return Set.of(OWN, NO_RESERVED);
    }

    @Override
    public int start(int port, Application application, String executor, Optional<RequestExecutor> plugged)
            throws Exception {
        return start(port, handler(application), executor, plugged);
    }

    @Override
    public int deploy(int port, Path war, String executor, Optional<RequestExecutor> plugged) throws Exception {
        // Set as in Jetty's own start-up, which has them in a file that an application here does not see.
        System.setProperty("java.naming.factory.initial", "org.eclipse.jetty.jndi.InitialContextFactory");
        System.setProperty("java.naming.factory.url.pkgs", "org.eclipse.jetty.jndi");
        WebAppContext context = new WebAppContext(war.toAbsolutePath().toString(), WarServer.contextRoot(war));
        context.setClassLoader(new WebAppClassLoader(
                new ServerClasses("jakarta.servlet.", "jakarta.annotation.", "org.eclipse.jetty."), context));
        context.setTempDirectory(war.resolveSibling("unpacked").toFile());
        context.setThrowUnavailableOnStartupException(true);
        return start(port, context, executor, plugged);
    }

    private int start(int port, Handler served, String executor, Optional<RequestExecutor> plugged) throws Exception {
        if (executor.equals(NO_RESERVED)) {
            pool.setReservedThreads(0);
            pool.setName(NO_RESERVED);
        }
        Server server = new Server(pool);
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        ServerConnector connector = new ServerConnector(server, new HttpConnectionFactory(http));
        connector.setHost(HOST);
        connector.setPort(port);
        connector.setIdleTimeout(KEPT_MS);
        connector.setAcceptQueueSize(BACKLOG);
        server.addConnector(connector);
        server.setHandler(plugged(plugged, served));
        connector.open();
        server.start();
        return connector.getLocalPort();
    }

    private static Handler handler(Application application) {
        ServletContextHandler context = new ServletContextHandler(application.contextRoot());
        context.addServletContainerInitializer(application);
        return context;
    }

    private Handler plugged(Optional<RequestExecutor> plugged, Handler application) {
        if (plugged.isEmpty()) {
            return application;
        }
        RequestExecutor threads = plugged.get();
        if (!threads.isPerRequest()) {
            pool.setVirtualThreadsExecutor(threads.executor());
            return application;
        }
        ThreadPerRequest perRequest = new ThreadPerRequest(threads.executor());
        pool.setVirtualThreadsExecutor(perRequest::execute);
        return perRequest.around(application);
    }

    @Override
    public OwnPoolMXBean ownPool() {
        return new OwnPool(pool);
    }

    /** Threads that accept, select or are in reserve do not count as running a task. */
    private record OwnPool(QueuedThreadPool pool) implements OwnPoolMXBean {
        @Override
        public int getPoolSize() {
            return pool.getThreads();
        }

        @Override
        public Integer getActive() {
            return pool.getUtilizedThreads();
        }

        @Override
        public Integer getQueued() {
            return pool.getQueueSize();
        }
    }
}
