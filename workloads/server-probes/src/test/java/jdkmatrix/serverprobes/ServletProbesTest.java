package jdkmatrix.serverprobes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletRegistration;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ServletProbesTest {
    private final Map<String, Object> served = new HashMap<>();

    /** Returns a context with one method, which takes two arguments: the name and the instance of a servlet. */
    private ServletContext context() {
        return (ServletContext) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {ServletContext.class}, (self, method, of) -> registration(of[1]));
    }

    private ServletRegistration.Dynamic registration(Object servlet) {
        return (ServletRegistration.Dynamic) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {ServletRegistration.Dynamic.class}, (self, method, of) -> {
                    String path = ((String[]) of[0])[0];
                    return served.putIfAbsent(path, servlet) == null ? Set.of() : Set.of(path);
                });
    }

    private void start() {
        new ServletProbes().contextInitialized(new ServletContextEvent(context()));
    }

    @Test
    void everyProbeHasItsAddress() {
        start();
        assertEquals(Set.of("/whoami", "/gauges", "/burn"), served.keySet());
        served.values().forEach(servlet -> assertInstanceOf(ProbeServlet.class, servlet));
    }

    @Test
    void anAddressThatIsTakenIsTold() {
        served.put("/burn", "another");
        assertEquals(
                "the application has something else at /burn",
                assertThrows(IllegalStateException.class, this::start).getMessage());
    }
}
