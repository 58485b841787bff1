package jdkmatrix.embedded;

import jakarta.servlet.Servlet;
import jakarta.servlet.ServletContainerInitializer;
import jakarta.servlet.ServletContext;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import jdkmatrix.banking.BankServlet;
import jdkmatrix.pinning.PinningServlet;
import jdkmatrix.serverprobes.ServletProbes;

/**
 * The applications that can be served, each below a context root of its name, with the probes beside it. Whatever the
 * WARs provide through Jakarta REST and a server or driver needs is a servlet here.
 */
public enum Application implements ServletContainerInitializer {
    MP_PING(Map.of("/ping", PingServlet::new)),
    BANKING(bank()),
    BANK_SQL(bank()),
    PINNING(Map.of("/servlet/*", PinningServlet::new));

    static final String ALLOWED = "mp-ping, banking, bank-sql, pinning";

    private final Map<String, Supplier<Servlet>> servlets;

    Application(Map<String, Supplier<Servlet>> servlets) {
        this.servlets = servlets;
    }

    private static Map<String, Supplier<Servlet>> bank() {
        return Map.of("/servlet/*", BankServlet::new, "/accounts", BankStateServlet::new, "/audit", BankStateServlet::new);
    }

    /** @throws IllegalArgumentException saying what was found and what is allowed */
    static Application named(String option, String text) {
        return Arrays.stream(values())
                .filter(application -> application.toString().equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "%s = \"%s\": one of %s is needed".formatted(option, text, ALLOWED)));
    }

    public String contextRoot() {
        return "/" + this;
    }

    @Override
    public void onStartup(Set<Class<?>> none, ServletContext context) {
        servlets.forEach((path, servlet) -> context.addServlet(path, servlet.get()).addMapping(path));
        ServletProbes.addTo(context);
    }

    /** Returns the name used on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
