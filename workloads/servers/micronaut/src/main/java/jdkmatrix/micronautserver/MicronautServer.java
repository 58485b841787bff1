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
 * Micronaut with its defaults, except where Open Liberty is configured otherwise or has another default. An event loop
 * reads a request and hands it to the executor that is selected. Everything is set as users set it, by properties.
 */
public final class MicronautServer implements EmbeddedServer {
    static final String APPLICATION = "jdkmatrix.application";

    private static final String OWN_VIRTUAL = "own-virtual";
    /** Held here so that its level is kept. Micronaut's warnings go to standard error. */
    private static final Logger LOG = Logger.getLogger("");
    /** Repeats why the server has not started, in many lines. */
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
        // The bank's JSON, with the names and their order of BankJson.
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
