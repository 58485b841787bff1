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
 * Registers the executor that {@code -Djdkmatrix.executor=KIND} asks for, or virtual threads for the server's own pool, which
 * {@code -Djdkmatrix.threads=NAME} asks for.
 *
 * <p>An executor is registered under {@code executor=pluggable}, where the HTTP channel's configured target finds it, and with
 * a low ranking, so that nobody who asks for just any ExecutorService gets it. An unknown kind stops the server.
 */
public final class Activator implements BundleActivator {
    private static final String EXECUTOR = "jdkmatrix.executor";
    private static final String THREADS = "jdkmatrix.threads";
    private static final int NOBODYS_CHOICE = -1000;

    private RequestExecutor executor;

    @Override
    public void start(BundleContext context) throws JMException, BundleException {
        String lent = context.getProperty(THREADS);
        try {
            executor = lent == null ? RequestExecutor.of(Kind.named(context.getProperty(EXECUTOR))) : RequestExecutor.lent(lent);
        } catch (IllegalArgumentException unknown) {
            System.err.println("jdkmatrix.requestexecutor stops the server: " + EXECUTOR + ": " + unknown.getMessage());
            context.getBundle(Constants.SYSTEM_BUNDLE_LOCATION).stop();
            throw unknown;
        }
        ManagementFactory.getPlatformMBeanServer().registerMBean(executor, new ObjectName(RequestExecutorMXBean.NAME));
        Dictionary<String, Object> properties = new Hashtable<>();
        if (lent == null) {
            properties.put("executor", "pluggable");
            properties.put(Constants.SERVICE_RANKING, NOBODYS_CHOICE);
            context.registerService(ExecutorService.class, executor.executor(), properties);
        } else {
            properties.put("com.ibm.ws.threading.defaultExecutorThreadFactory", true);
            context.registerService(ThreadFactory.class, executor.threads(), properties);
        }
    }

    @Override
    public void stop(BundleContext context) throws JMException {
        ManagementFactory.getPlatformMBeanServer().unregisterMBean(new ObjectName(RequestExecutorMXBean.NAME));
        // The server's own pool ends the threads that were lent to it.
        if (executor.executor() != null) {
            executor.executor().shutdownNow();
        }
    }
}
