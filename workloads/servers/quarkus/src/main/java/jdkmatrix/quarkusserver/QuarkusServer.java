package jdkmatrix.quarkusserver;

import io.quarkus.runtime.ExecutorRecorder;
import io.quarkus.runtime.annotations.QuarkusMain;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.Executor;
import jdkmatrix.embedded.Application;
import jdkmatrix.embedded.EmbeddedServer;
import jdkmatrix.embedded.ServerProgram;
import jdkmatrix.requestexecutor.Kind;
import jdkmatrix.requestexecutor.RequestExecutor;
import jdkmatrix.serverprobes.OwnPoolMXBean;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jboss.threads.EnhancedQueueExecutor;

/**
 * Quarkus with its defaults, except where Open Liberty is configured otherwise or has another default. An event loop
 * reads a request and hands it to the pool or to a new virtual thread, depending on the resource. No other way exists.
 *
 * <p>It is not started by {@code Quarkus.run}, after which a SIGTERM would wait for requests in flight.
 */
@QuarkusMain
public final class QuarkusServer implements EmbeddedServer {
    private static final String OWN_VIRTUAL = "own-virtual";
    private static final String PORT = "quarkus.http.port";

    private boolean virtual;

    public static void main(String[] args) {
        System.setProperty("java.util.logging.manager", "org.jboss.logmanager.LogManager");
        ServerProgram.run(new QuarkusServer(), args);
    }

    @Override
    public String version() {
        try (InputStream told = QuarkusServer.class.getResourceAsStream("/quarkus.properties")) {
            Properties properties = new Properties();
            properties.load(told);
            return properties.getProperty("version");
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    @Override
    public Set<String> own() {
        return Set.of(OWN, OWN_SIZED, OWN_VIRTUAL);
    }

    @Override
    public boolean takesExecutors() {
        return false;
    }

    @Override
    public int start(int port, Application application, String executor, Optional<RequestExecutor> none)
            throws IOException, ReflectiveOperationException {
        // Tried first, since Quarkus would report in many lines that it cannot listen there.
        new ServerSocket(port, BACKLOG, InetAddress.getByName(HOST)).close();
        virtual = executor.equals(OWN_VIRTUAL);
        String resources = virtual ? OnVirtualThreads.SWITCH : OnPool.SWITCH;
        Map.of(
                        "quarkus.http.host", HOST,
                        PORT, String.valueOf(port),
                        "quarkus.http.accept-backlog", String.valueOf(BACKLOG),
                        "quarkus.http.idle-timeout", KEPT_MS + "ms",
                        "quarkus.banner.enabled", "false",
                        // Quarkus's warnings go to standard error.
                        "quarkus.log.level", "WARN",
                        "quarkus.log.console.stderr", "true",
                        resources + "probes", "on",
                        resources + named(application), "on")
                .forEach(System::setProperty);
        int threads = Kind.parsed(executor).orElseThrow().size();
        if (threads > 0) {
            System.setProperty("quarkus.thread-pool.core-threads", String.valueOf(threads));
            System.setProperty("quarkus.thread-pool.max-threads", String.valueOf(threads));
        }
        Class<?> quarkus = Class.forName(io.quarkus.runtime.Application.APP_CLASS_NAME);
        ((io.quarkus.runtime.Application) quarkus.getDeclaredConstructor().newInstance()).start(new String[0]);
        return ConfigProvider.getConfig().getValue(PORT, Integer.class);
    }

    /** Returns the name of its resource in the switches. */
    private static String named(Application application) {
        return switch (application) {
            case MP_PING -> "ping";
            case BANKING, BANK_SQL -> "bank";
            case PINNING -> "pinning";
        };
    }

    @Override
    public OwnPoolMXBean ownPool() {
        return virtual ? null : new OwnPool(pool());
    }

    /** Unwraps the pool: Quarkus hands it out in a wrapper that has no gauges. */
    private static EnhancedQueueExecutor pool() {
        try {
            Executor covered = ExecutorRecorder.getCurrent();
            Field pool = covered.getClass().getDeclaredField("delegate");
            pool.setAccessible(true);
            return (EnhancedQueueExecutor) pool.get(covered);
        } catch (ReflectiveOperationException another) {
            throw new IllegalStateException("Quarkus’s pool is not where it was", another);
        }
    }

    /** The pool counts neither, unless a property of the JVM says so. */
    private record OwnPool(EnhancedQueueExecutor pool) implements OwnPoolMXBean {
        @Override
        public int getPoolSize() {
            return pool.getPoolSize();
        }

        @Override
        public Integer getActive() {
            return null;
        }

        @Override
        public Integer getQueued() {
            return null;
        }
    }
}
