package jdkmatrix.tomcatthreads;

import java.util.Optional;
import jdkmatrix.requestexecutor.RequestExecutor;
import jdkmatrix.serverprobes.OwnPoolMXBean;
import org.apache.catalina.Valve;
import org.apache.coyote.AbstractProtocol;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;

/**
 * The threads that run the requests of a Tomcat, whoever embeds it.
 *
 * <p>A poller finds the connections that have something to read, and hands each to the connector's executor. That is
 * Tomcat's own pool, its own virtual threads, or any other that the connector is given, so that the arms take the same
 * way through the server and differ in their threads, and in a mark that a request on a thread of its own sets
 * ({@link ThreadPerRequest}; Tomcat's own virtual threads set none).
 */
public final class TomcatThreads {
    private final Optional<RequestExecutor> plugged;
    private AbstractProtocol<?> http;

    /** @param plugged empty: the threads that Tomcat brings along */
    public TomcatThreads(Optional<RequestExecutor> plugged) {
        this.plugged = plugged;
    }

    /** Sets the connector's executor. Called before the connector starts. */
    public void runRequestsOf(AbstractProtocol<?> connector) {
        http = connector;
        plugged.ifPresent(threads -> connector.setExecutor(threads.executor()));
    }

    /** Returns a valve for the engine's pipeline, if each request is to have a thread of its own. */
    public Optional<Valve> valve() {
        return plugged.filter(RequestExecutor::isPerRequest).map(threads -> new ThreadPerRequest(threads.threads()));
    }

    /** Returns gauges of Tomcat's own pool, once the connector has started; null: it has none. */
    public OwnPoolMXBean ownPool() {
        return http.getExecutor() instanceof ThreadPoolExecutor pool ? new OwnPool(pool) : null;
    }

    private record OwnPool(ThreadPoolExecutor pool) implements OwnPoolMXBean {
        @Override
        public int getPoolSize() {
            return pool.getPoolSize();
        }

        @Override
        public Integer getActive() {
            return pool.getActiveCount();
        }

        @Override
        public Integer getQueued() {
            return pool.getQueue().size();
        }
    }
}
