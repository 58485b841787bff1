package jdkmatrix.requestexecutor;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceEvent;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.ServiceRegistration;
import org.osgi.framework.hooks.service.EventListenerHook;
import org.osgi.framework.hooks.service.FindHook;
import org.osgi.framework.hooks.service.ListenerHook.ListenerInfo;

/**
 * Shows one server bundle no {@link ExecutorService} but ours, and ours to no other bundle, until {@link #remove} (OSGi
 * Core, chapter 55). The registry calls them at each look-up and event of any service; a count shows if it still does.
 */
final class ServiceHooks implements FindHook, EventListenerHook, ServiceHooksMXBean {
    private static final String SERVICE = ExecutorService.class.getName();

    private final BundleContext context;
    private final Bundle ours;
    private final String only;
    private final LongAdder calls = new LongAdder();
    private final AtomicReference<ServiceRegistration<?>> registered = new AtomicReference<>();

    /** @param only the symbolic name of that bundle */
    ServiceHooks(BundleContext context, String only) {
        this.context = context;
        this.ours = context.getBundle();
        this.only = only;
        String[] hooks = {FindHook.class.getName(), EventListenerHook.class.getName()};
        registered.set(context.registerService(hooks, this, null));
    }

    /** Removes the hooks; does nothing the second time. */
    void remove() {
        ServiceRegistration<?> hooks = registered.getAndSet(null);
        if (hooks != null) {
            hooks.unregister();
        }
    }

    boolean isMeant(Bundle bundle) {
        return only.equals(bundle.getSymbolicName());
    }

    @Override
    public void find(
            BundleContext context, String name, String filter, boolean all, Collection<ServiceReference<?>> found) {
        calls.increment();
        found.removeIf(one -> isHidden(one, context));
    }

    @Override
    public void event(ServiceEvent event, Map<BundleContext, Collection<ListenerInfo>> listeners) {
        calls.increment();
        listeners.keySet().removeIf(context -> isHidden(event.getServiceReference(), context));
    }

    /** Looks a service up first: hooks that are still there count that, so that no two readings are the same. */
    @Override
    public long getCalls() {
        context.getServiceReference(SERVICE);
        return calls.sum();
    }

    private boolean isHidden(ServiceReference<?> service, BundleContext asking) {
        if (!List.of((String[]) service.getProperty(Constants.OBJECTCLASS)).contains(SERVICE)) {
            return false;
        }
        Bundle bundle = asking.getBundle();
        boolean isOurs = ours.equals(service.getBundle());
        return isMeant(bundle) ? !isOurs : isOurs && bundle.getBundleId() != Constants.SYSTEM_BUNDLE_ID && !ours.equals(bundle);
    }
}
