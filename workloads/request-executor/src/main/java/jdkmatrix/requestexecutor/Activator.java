package jdkmatrix.requestexecutor;

import java.lang.management.ManagementFactory;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;
import javax.management.JMException;
import javax.management.ObjectName;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceFactory;
import org.osgi.framework.ServiceRegistration;

/**
 * Registers the executor that {@code -Djdkmatrix.executor=KIND} asks for, or virtual threads for the server's own pool
 * if {@code -Djdkmatrix.threads=NAME} asks for them.
 *
 * <p>An executor is registered under {@code executor=pluggable}, where a configured target finds it, and with a low
 * ranking, so that whoever asks for just any ExecutorService does not get it, except the bundle that
 * {@code -Djdkmatrix.executor.bundle=NAME} names: until that has ours, it is shown no other ({@link ServiceHooks}). Its
 * reference is static and reluctant, so that it keeps what it has. An unknown kind stops the server.
 */
public final class Activator implements BundleActivator {
    private static final String EXECUTOR = "jdkmatrix.executor";
    private static final String BUNDLE = "jdkmatrix.executor.bundle";
    private static final String THREADS = "jdkmatrix.threads";
    private static final int NOBODYS_CHOICE = -1000;

    private RequestExecutor executor;
    private ServiceHooks hooks;

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
        String bundle = context.getProperty(BUNDLE);
        if (bundle != null) {
            hooks = new ServiceHooks(context, bundle);
            ManagementFactory.getPlatformMBeanServer().registerMBean(hooks, new ObjectName(ServiceHooksMXBean.NAME));
        }
        Dictionary<String, Object> properties = new Hashtable<>();
        if (lent == null) {
            properties.put("executor", "pluggable");
            properties.put(Constants.SERVICE_RANKING, NOBODYS_CHOICE);
            context.registerService(ExecutorService.class, new Plugged(), properties);
        } else {
            properties.put("com.ibm.ws.threading.defaultExecutorThreadFactory", true);
            context.registerService(ThreadFactory.class, executor.threads(), properties);
        }
    }

    @Override
    public void stop(BundleContext context) throws JMException {
        ManagementFactory.getPlatformMBeanServer().unregisterMBean(new ObjectName(RequestExecutorMXBean.NAME));
        if (hooks != null) {
            hooks.remove();
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(new ObjectName(ServiceHooksMXBean.NAME));
        }
        // The server's own pool ends the threads that were lent to it.
        if (executor.executor() != null) {
            executor.executor().shutdownNow();
        }
    }

    /** Hands out the executor and notices which bundle gets it. */
    private final class Plugged implements ServiceFactory<ExecutorService> {
        @Override
        public ExecutorService getService(Bundle bundle, ServiceRegistration<ExecutorService> registration) {
            if (hooks != null && hooks.isMeant(bundle)) {
                hooks.remove();
            }
            return executor.executor();
        }

        @Override
        public void ungetService(Bundle bundle, ServiceRegistration<ExecutorService> registration, ExecutorService service) {
            // It stays ours until we stop.
        }
    }
}
