package jdkmatrix.embedded;

import java.util.Optional;
import java.util.Set;
import jdkmatrix.requestexecutor.RequestExecutor;
import jdkmatrix.serverprobes.OwnPoolMXBean;

/** A server that our programs embed. Its folder in workloads/servers says how it is started and what it brings along. */
public interface EmbeddedServer {
    String HOST = "127.0.0.1";
    /** The command-line value that stands for the server's own pool as it comes. */
    String OWN = "own";
    /** Stands for that pool with N threads. */
    String OWN_SIZED = "own-N";
    /** An hour: a connection lives as long as the driver keeps it, so no cell pays for reconnects that others lack. */
    int KEPT_MS = 3_600_000;
    /** Connections that may wait to be accepted, as in Open Liberty; fewer would drop those of a larger driver. */
    int BACKLOG = 511;

    /** Returns the version of the library. */
    String version();

    /** Returns the values of {@code --executor} for what the server brings along, with N for any number. */
    default Set<String> own() {
        return Set.of(OWN);
    }

    /** True if it can be given an executor of the catalogue. */
    default boolean takesExecutors() {
        return true;
    }

    /**
     * Listens on {@link #HOST} and serves the application with {@code plugged}, or else with what {@code executor},
     * one of {@link #own}, stands for.
     *
     * @param port 0 for any free one
     * @return the port
     * @throws Exception caused by a BindException if it cannot listen there
     */
    int start(int port, Application application, String executor, Optional<RequestExecutor> plugged) throws Exception;

    /** Returns the gauges of the server's own pool; null if there is none. */
    OwnPoolMXBean ownPool();
}
