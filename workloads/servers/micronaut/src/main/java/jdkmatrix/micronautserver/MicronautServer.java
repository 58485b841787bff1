package jdkmatrix.micronautserver;

import io.micronaut.context.ApplicationContext;
import io.micronaut.core.version.VersionUtils;
import io.micronaut.inject.qualifiers.Qualifiers;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.instrument.InstrumentedExecutorService;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.logging.Level;
import java.util.logging.Logger;
import jdkmatrix.embedded.Application;
import jdkmatrix.embedded.EmbeddedServer;
import jdkmatrix.embedded.PoolGauges;
import jdkmatrix.embedded.ServerProgram;
import jdkmatrix.requestexecutor.Kind;
import jdkmatrix.requestexecutor.RequestExecutor;
import jdkmatrix.serverprobes.OwnPoolMXBean;

/**
 * Micronaut, as it comes except where Open Liberty is told otherwise or has another default. An event loop reads a request, and
 * hands it to the executor that the server is told to select. Everything is said as users say it, by properties.
 */
public final class MicronautServer implements EmbeddedServer {
    static final String APPLICATION = "jdkmatrix.application";

    private static final String OWN_VIRTUAL = "own-virtual";
    /** Kept, so that its level is. What Micronaut warns of goes to standard error. */
    private static final Logger LOG = Logger.getLogger("");
    /** Says once more why it has not started, in many lines. */
    private static final Logger STARTING = Logger.getLogger("io.micronaut.http.server.netty.NettyHttpServer");

    private ApplicationContext context;
    private boolean virtual;

    public static void main(String[] args) {
        LOG.setLevel(Level.WARNING);
        ServerProgram.run(new MicronautServer(), args);
    }

    @Override
    public String version() {
        return VersionUtils.getMicronautVersion();
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
    public int start(int port, Application application, String executor, Optional<RequestExecutor> none) {
        virtual = executor.equals(OWN_VIRTUAL);
        Map<String, Object> properties = new HashMap<>(Map.of(
                APPLICATION, application.toString(),
                "micronaut.server.host", HOST,
                "micronaut.server.port", port,
                "micronaut.server.context-path", application.contextRoot(),
                "micronaut.server.thread-selection", virtual ? "blocking" : "io",
                "micronaut.server.idle-timeout", KEPT_MS + "ms",
                "micronaut.server.netty.options.so-backlog", BACKLOG));
        int threads = Kind.parsed(executor).orElseThrow().size();
        if (threads > 0) {
            properties.put("micronaut.executors.io.type", "fixed");
            properties.put("micronaut.executors.io.n-threads", threads);
        }
        // The bank's JSON, whose names and their order are those of BankJson.
        properties.put("jackson.property-naming-strategy", "SNAKE_CASE");
        properties.put("jackson.mapper.SORT_PROPERTIES_ALPHABETICALLY", true);
        properties.put("jackson.mapper.SORT_CREATOR_PROPERTIES_FIRST", false);
        properties.put("jackson.serialization-inclusion", "NON_NULL");
        context = ApplicationContext.run(properties);
        STARTING.setLevel(Level.OFF);
        int listening = context.getBean(io.micronaut.runtime.server.EmbeddedServer.class).start().getPort();
        STARTING.setLevel(null);
        return listening;
    }

    @Override
    public OwnPoolMXBean ownPool() {
        return virtual ? null : new PoolGauges((ThreadPoolExecutor) pool().getTarget());
    }

    private InstrumentedExecutorService pool() {
        return (InstrumentedExecutorService)
                context.getBean(ExecutorService.class, Qualifiers.byName(TaskExecutors.IO));
    }
}
