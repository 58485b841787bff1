package jdkmatrix.embedded;

import java.util.Optional;
import java.util.Set;
import jdkmatrix.requestexecutor.RequestExecutor;
import jdkmatrix.serverprobes.OwnPoolMXBean;

/** A server that our programs embed. Its folder in workloads/servers says how it is started and what it brings along. */
public interface EmbeddedServer {
    String HOST = "127.0.0.1";
    /** The option of the command line that stands for the server's own pool, as it comes. */
    String OWN = "own";
    /** Stands for that pool with N threads. */
    String OWN_SIZED = "own-N";
    /** A connection lives as long as the driver keeps it, so that no cell pays for reconnects that others do not: an hour. */
    int KEPT_MS = 3_600_000;
    /** Connections that wait to be accepted, as Open Liberty has it; fewer would drop those of a larger driver. */
    int BACKLOG = 511;

    /** Of the library. */
    String version();

    /** Values of {@code --executor} that mean what the server brings along, with N for any number. */
    default Set<String> own() {
        return Set.of(OWN);
    }

    /** Can it be given an executor of the catalogue? */
    default boolean takesExecutors() {
        return true;
    }

    /**
     * Listens on {@link #HOST} and serves the application, from {@code plugged}, or else from what {@code executor}, one of
     * {@link #own}, means.
     *
     * @param port 0: any free one
     * @return the port
     * @throws Exception caused by a BindException: it cannot listen there
     */
    int start(int port, Application application, String executor, Optional<RequestExecutor> plugged) throws Exception;

    /** Gauges of the server's own pool; null: there is none. */
    OwnPoolMXBean ownPool();
}
