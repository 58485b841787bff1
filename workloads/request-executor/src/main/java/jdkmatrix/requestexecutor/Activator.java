package jdkmatrix.requestexecutor;

import java.lang.management.ManagementFactory;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;
import javax.management.JMException;
import javax.management.ObjectName;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;

/**
 * Registers the executor that {@code -Djdkmatrix.executor=KIND} asks for.
 *
 * <p>An executor is registered under {@code executor=pluggable}, where the HTTP channel's configured target finds
 * it, and with a low ranking, so that nobody who asks for just any ExecutorService gets it. For
 * {@code liberty-virtual} a thread factory is registered, which Liberty's own pool takes. An unknown kind stops the
 * server: without a thread factory it would serve from its ordinary threads and look well.
 */
public final class Activator implements BundleActivator {
    static final String PROPERTY = "jdkmatrix.executor";
    private static final String ALLOWED =
            "virtual, platform, cached, liberty-virtual, or fixed-N with N from 1 to " + Kind.MAX_FIXED_THREADS;
    private static final int NOBODYS_CHOICE = -1000;

    private RequestExecutor executor;

    @Override
    public void start(BundleContext context) throws JMException, BundleException {
        try {
            executor = RequestExecutor.of(kind(context.getProperty(PROPERTY)));
        } catch (IllegalArgumentException unknown) {
            System.err.println("jdkmatrix.requestexecutor stops the server: " + unknown.getMessage());
            context.getBundle(Constants.SYSTEM_BUNDLE_LOCATION).stop();
            throw unknown;
        }
        ManagementFactory.getPlatformMBeanServer().registerMBean(executor, new ObjectName(RequestExecutorMXBean.NAME));
        switch (executor) {
            case RequestExecutor.PerTask perTask -> register(context, perTask.executor());
            case RequestExecutor.Pool pool -> register(context, pool.executor());
            case RequestExecutor.LibertyThreads liberty -> register(context, liberty.threads());
        }
    }

    @Override
    public void stop(BundleContext context) throws JMException {
        ManagementFactory.getPlatformMBeanServer().unregisterMBean(new ObjectName(RequestExecutorMXBean.NAME));
        switch (executor) {
            case RequestExecutor.PerTask perTask -> perTask.executor().shutdownNow();
            case RequestExecutor.Pool pool -> pool.executor().shutdownNow();
            case RequestExecutor.LibertyThreads liberty -> {
                // Liberty's pool ends the threads that it asked for.
            }
        }
    }

    /**
     * @param text value of the property, or null when it is absent
     * @throws IllegalArgumentException with what was found and what is allowed
     */
    static Kind kind(String text) {
        return Kind.named(text).orElseThrow(() -> new IllegalArgumentException("%s: unknown request executor: found %s, allowed are %s"
                .formatted(PROPERTY, text == null ? "nothing" : text, ALLOWED)));
    }

    private static void register(BundleContext context, ExecutorService service) {
        Dictionary<String, Object> properties = new Hashtable<>();
        properties.put("executor", "pluggable");
        properties.put(Constants.SERVICE_RANKING, NOBODYS_CHOICE);
        context.registerService(ExecutorService.class, service, properties);
    }

    private static void register(BundleContext context, ThreadFactory factory) {
        Dictionary<String, Object> properties = new Hashtable<>();
        properties.put("com.ibm.ws.threading.defaultExecutorThreadFactory", true);
        context.registerService(ThreadFactory.class, factory, properties);
    }
}
