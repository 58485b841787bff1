package jdkmatrix.undertowserver;

import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.Version;
import io.undertow.server.HttpHandler;
import io.undertow.servlet.Servlets;
import io.undertow.servlet.api.DeploymentInfo;
import io.undertow.servlet.api.DeploymentManager;
import io.undertow.servlet.api.ServletContainerInitializerInfo;
import io.undertow.servlet.util.ImmediateInstanceFactory;
import jakarta.servlet.ServletException;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import jdkmatrix.embedded.Application;
import jdkmatrix.embedded.EmbeddedServer;
import jdkmatrix.embedded.ServerProgram;
import jdkmatrix.requestexecutor.RequestExecutor;
import jdkmatrix.serverprobes.OwnPoolMXBean;
import org.xnio.Options;
import org.xnio.management.XnioWorkerMXBean;

/**
 * Undertow with its defaults, except where Open Liberty is configured otherwise or has another default.
 *
 * <p>An I/O thread reads a request and hands it to the executor of the deployment before a Servlet is called; if none
 * is set, that is the pool of the XNIO worker. So each request is a task of its own, whichever executor runs it.
 */
public final class UndertowServer implements EmbeddedServer {
    /** Held here so that their level is kept. Undertow's warnings go to standard error. */
    private static final Logger[] LOGS =
            Stream.of("io.undertow", "org.xnio", "org.jboss").map(Logger::getLogger).toArray(Logger[]::new);

    private Undertow undertow;

    public static void main(String[] args) {
        for (Logger log : LOGS) {
            log.setLevel(Level.WARNING);
        }
        ServerProgram.run(new UndertowServer(), args);
    }

    @Override
    public String version() {
        return Version.getVersionString();
    }

    @Override
    public int start(int port, Application application, String executor, Optional<RequestExecutor> plugged)
            throws ServletException {
        undertow = Undertow.builder()
                .addHttpListener(port, HOST, handler(application, plugged))
                .setSocketOption(Options.BACKLOG, BACKLOG)
                .setServerOption(UndertowOptions.NO_REQUEST_TIMEOUT, KEPT_MS)
                .build();
        undertow.start();
        InetSocketAddress listening =
                (InetSocketAddress) undertow.getListenerInfo().getFirst().getAddress();
        return listening.getPort();
    }

    private static HttpHandler handler(Application application, Optional<RequestExecutor> plugged) throws ServletException {
        DeploymentInfo served = Servlets.deployment()
                .setClassLoader(UndertowServer.class.getClassLoader())
                .setDeploymentName(application.toString())
                .setContextPath(application.contextRoot())
                .addServletContainerInitializer(new ServletContainerInitializerInfo(
                        Application.class, new ImmediateInstanceFactory<>(application), Set.of()));
        plugged.ifPresent(threads -> served.setExecutor(threads.executor()));
        DeploymentManager deployment = Servlets.defaultContainer().addDeployment(served);
        deployment.deploy();
        return Handlers.path().addPrefixPath(application.contextRoot(), deployment.start());
    }

    @Override
    public OwnPoolMXBean ownPool() {
        return new OwnPool(undertow.getWorker().getMXBean());
    }

    private record OwnPool(XnioWorkerMXBean worker) implements OwnPoolMXBean {
        @Override
        public int getPoolSize() {
            return worker.getWorkerPoolSize();
        }

        /** Null: by default, the pool does not count them. */
        @Override
        public Integer getActive() {
            return null;
        }

        @Override
        public Integer getQueued() {
            return worker.getWorkerQueueSize();
        }
    }
}
