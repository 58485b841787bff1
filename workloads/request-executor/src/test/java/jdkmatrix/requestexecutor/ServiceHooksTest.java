package jdkmatrix.requestexecutor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceEvent;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.ServiceRegistration;
import org.osgi.framework.hooks.service.ListenerHook.ListenerInfo;

class ServiceHooksTest {
    private static final List<String> BUNDLES = List.of("system", "ours", "channel", "other");

    private final Map<String, BundleContext> contexts = new HashMap<>();
    private final ServiceReference<?> ours = service("ours", ExecutorService.class);
    private final ServiceReference<?> pool = service("other", ExecutorService.class);
    private final ServiceReference<?> timer = service("other", ScheduledExecutorService.class);
    private int removed;

    @Test
    void oneBundleSeesOursAloneAndNoOtherSeesIt() {
        ServiceHooks hooks = new ServiceHooks(context("ours"), "channel");
        Map<String, List<ServiceReference<?>>> seen = Map.of(
                "system", List.of(ours, pool, timer), "ours", List.of(ours, pool, timer),
                "channel", List.of(ours, timer), "other", List.of(pool, timer));
        seen.forEach((bundle, services) -> {
            List<ServiceReference<?>> found = new ArrayList<>(List.of(ours, pool, timer));
            hooks.find(context(bundle), null, null, false, found);
            assertEquals(services, found, bundle);
        });
        for (ServiceReference<?> service : List.of(ours, pool, timer)) {
            Map<BundleContext, Collection<ListenerInfo>> told = new HashMap<>();
            BUNDLES.forEach(bundle -> told.put(context(bundle), List.of()));
            hooks.event(new ServiceEvent(ServiceEvent.REGISTERED, service), told);
            BUNDLES.forEach(bundle ->
                    assertEquals(seen.get(bundle).contains(service), told.containsKey(context(bundle)), bundle));
        }
        assertEquals(BUNDLES.size() + 3, hooks.getCalls());
        hooks.remove();
        hooks.remove();
        assertEquals(1, removed);
    }

    private BundleContext context(String bundle) {
        return contexts.computeIfAbsent(bundle, name -> {
            Bundle its = made(Bundle.class, call -> call.equals("getSymbolicName") ? name : (long) BUNDLES.indexOf(name));
            ServiceRegistration<?> registered = made(ServiceRegistration.class, call -> call.equals("unregister") ? ++removed : null);
            return made(BundleContext.class, call -> switch (call) {
                case "getBundle" -> its;
                case "registerService" -> registered;
                default -> null;
            });
        });
    }

    private ServiceReference<?> service(String bundle, Class<?> type) {
        String[] types = {type.getName()};
        return made(ServiceReference.class, call -> call.equals("getBundle") ? context(bundle).getBundle() : types);
    }

    /** Makes a proxy that answers a call by its name and is equal only to itself. */
    private static <T> T made(Class<T> type, Function<String, Object> answer) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) ->
                switch (method.getName()) {
                    case "equals" -> self == arguments[0];
                    case "hashCode" -> System.identityHashCode(self);
                    case "toString" -> type.getSimpleName();
                    default -> answer.apply(method.getName());
                }));
    }
}
