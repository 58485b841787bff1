package jdkmatrix.jettyserver;

import java.lang.management.ManagementFactory;
import java.util.concurrent.Executor;
import java.util.function.UnaryOperator;
import javax.management.JMException;
import javax.management.ObjectName;
import jdkmatrix.requestexecutor.Kind;
import jdkmatrix.requestexecutor.RequestExecutor;
import jdkmatrix.requestexecutor.RequestExecutorMXBean;
import jdkmatrix.serverprobes.OwnPoolMXBean;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * Which threads run requests.
 *
 * <p>Jetty's own pool, a {@link QueuedThreadPool} as it comes, always runs acceptors and selectors. A selector finds the
 * connections that have something to read, and either reads and serves a request itself, when a reserved thread of the
 * pool takes over the selecting, or hands it to an executor (Jetty's guide: Threading Architecture, Adaptive Execution
 * Strategy). The executor is the pool, or else the one of {@link QueuedThreadPool#setVirtualThreadsExecutor}; with the
 * latter there are no reserved threads, so that no selector ever serves. Jetty does not look at what that executor's
 * threads are. Ours all come in there: what is compared has the same way through the server and differs in its threads
 * alone.
 *
 * @param pool Jetty's own
 * @param gauges of what runs requests, an MBean
 * @param mbean its name
 * @param around what must be around the application for the threads to be used as their name says
 */
record RequestThreads(QueuedThreadPool pool, Object gauges, String mbean, UnaryOperator<Handler> around) {
    static final String OWN_POOL = "jetty";
    static final String ALLOWED =
            OWN_POOL + ", virtual, platform, cached, fixed-N with N from 1 to " + Kind.MAX_FIXED_THREADS;

    /** Of Jetty's pool; threads that accept, select or are in reserve run no task. */
    private record OwnPool(QueuedThreadPool pool) implements OwnPoolMXBean {
        @Override
        public int getPoolSize() {
            return pool.getThreads();
        }

        @Override
        public int getActive() {
            return pool.getUtilizedThreads();
        }

        @Override
        public int getQueued() {
            return pool.getQueueSize();
        }
    }

    /** @throws IllegalArgumentException says what was found and what is allowed */
    static RequestThreads named(String option, String text) {
        QueuedThreadPool pool = new QueuedThreadPool();
        if (text.equals(OWN_POOL)) {
            return new RequestThreads(pool, new OwnPool(pool), OwnPoolMXBean.NAME, UnaryOperator.identity());
        }
        Kind kind = Kind.named(text)
                .filter(known -> !(known instanceof Kind.LibertyVirtual))
                .orElseThrow(() -> new IllegalArgumentException(
                        "%s = \"%s\": one of %s is needed".formatted(option, text, ALLOWED)));
        return switch (RequestExecutor.of(kind)) {
            case RequestExecutor.PerTask threads -> {
                ThreadPerRequest perRequest = new ThreadPerRequest(threads.executor());
                yield plugged(pool, threads, perRequest::execute, perRequest::around);
            }
            case RequestExecutor.Pool threads -> plugged(pool, threads, threads.executor(), UnaryOperator.identity());
            case RequestExecutor.LibertyThreads none -> throw new IllegalStateException(none.getKind());
        };
    }

    private static RequestThreads plugged(
            QueuedThreadPool pool, RequestExecutor gauges, Executor executor, UnaryOperator<Handler> around) {
        pool.setVirtualThreadsExecutor(executor);
        return new RequestThreads(pool, gauges, RequestExecutorMXBean.NAME, around);
    }

    /** Shows the gauges to the probes. */
    void register() throws JMException {
        ManagementFactory.getPlatformMBeanServer().registerMBean(gauges, new ObjectName(mbean));
    }
}
