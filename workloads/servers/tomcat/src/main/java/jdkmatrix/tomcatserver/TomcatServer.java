package jdkmatrix.tomcatserver;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;
import jdkmatrix.embedded.Application;
import jdkmatrix.embedded.ServerClasses;
import jdkmatrix.embedded.ServerProgram;
import jdkmatrix.embedded.WarServer;
import jdkmatrix.requestexecutor.RequestExecutor;
import jdkmatrix.serverprobes.OwnPoolMXBean;
import jdkmatrix.tomcatthreads.TomcatThreads;
import org.apache.catalina.Context;
import org.apache.catalina.Lifecycle;
import org.apache.catalina.LifecycleEvent;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.session.StandardManager;
import org.apache.catalina.startup.Tomcat;
import org.apache.catalina.util.ServerInfo;
import org.apache.coyote.http11.Http11NioProtocol;

/** Tomcat with its defaults, except where Open Liberty is configured otherwise or has another default. */
public final class TomcatServer implements WarServer {
    private static final String OWN_VIRTUAL = "own-virtual";
    private static final int NO_LIMIT = -1;
    /** Held here so that its level is kept. Tomcat's warnings go to standard error. */
    private static final Logger LOG = Logger.getLogger("org.apache");

    private TomcatThreads threads;

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
        Tomcat tomcat = tomcat(port, executor, plugged);
        Context context = tomcat.addContext(application.contextRoot(), null);
        context.addServletContainerInitializer(application, null);
        // Nobody asks for a session; the platform's own random numbers are available at once.
        StandardManager sessions = new StandardManager();
        sessions.setSecureRandomAlgorithm("");
        context.setManager(sessions);
        tomcat.start();
        return tomcat.getConnector().getLocalPort();
    }

    @Override
    public int deploy(int port, Path war, String executor, Optional<RequestExecutor> plugged) throws Exception {
        Tomcat tomcat = tomcat(port, executor, plugged);
        Files.createDirectories(tomcat.getServer().getCatalinaBase().toPath().resolve("webapps"));
        Context context = tomcat.addWebapp(WarServer.contextRoot(war), war.toAbsolutePath().toString());
        context.setParentClassLoader(new ServerClasses("jakarta.servlet.", "jakarta.annotation.", "org.apache."));
        context.addLifecycleListener(TomcatServer::withoutPages);
        tomcat.start();
        if (!context.getState().isAvailable()) {
            throw new IOException("Tomcat wrote why");
        }
        return tomcat.getConnector().getLocalPort();
    }

    /** Removes the Jakarta Pages servlet, which embedded Tomcat gives to each application although it lacks Pages. */
    private static void withoutPages(LifecycleEvent event) {
        if (event.getType().equals(Lifecycle.BEFORE_START_EVENT) && event.getLifecycle() instanceof Context context) {
            context.removeServletMapping("*.jsp");
            context.removeServletMapping("*.jspx");
            context.removeChild(context.findChild("jsp"));
        }
    }

    private Tomcat tomcat(int port, String executor, Optional<RequestExecutor> plugged) {
        threads = new TomcatThreads(plugged);
        Http11NioProtocol http = new Http11NioProtocol();
        threads.runRequestsOf(http);
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
        threads.valve().ifPresent(tomcat.getEngine().getPipeline()::addValve);
        return tomcat;
    }

    @Override
    public OwnPoolMXBean ownPool() {
        return threads.ownPool();
    }
}
