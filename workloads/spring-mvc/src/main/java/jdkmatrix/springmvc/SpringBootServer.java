package jdkmatrix.springmvc;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import jdkmatrix.embedded.Application;
import jdkmatrix.embedded.EmbeddedServer;
import jdkmatrix.requestexecutor.RequestExecutor;
import jdkmatrix.serverprobes.OwnPoolMXBean;
import jdkmatrix.serverprobes.ServletProbes;
import jdkmatrix.tomcatthreads.TomcatThreads;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.ServletContextInitializer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * Spring Boot with its Tomcat, as it configures itself, except where Open Liberty is configured otherwise or has
 * another default. Everything else is set as users set it, by properties.
 */
public class SpringBootServer implements EmbeddedServer {
    private static final String OWN_VIRTUAL = "own-virtual";
    private static final int NO_LIMIT = -1;
    /** More than any host opens, since Boot ignores {@link #NO_LIMIT} here. */
    private static final int CONNECTIONS_AT_ONCE = 1_000_000;

    /** Its names in both versions of Boot. */
    private static final String NO_DATABASE = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration,"
            + "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration";

    private final Class<?> tomcat;
    private TomcatThreads threads;

    /** @param tomcat a configuration that passes the bean {@link TomcatThreads} to Tomcat by this Boot's class names */
    public SpringBootServer(Class<?> tomcat) {
        this.tomcat = tomcat;
    }

    @Override
    public String version() {
        return SpringBootVersion.getVersion();
    }

    @Override
    public Set<String> own() {
        return Set.of(OWN, OWN_VIRTUAL);
    }

    @Override
    public int start(int port, Application application, String executor, Optional<RequestExecutor> plugged) {
        threads = new TomcatThreads(plugged);
        Map<String, Object> properties = new HashMap<>(Map.of(
                "server.address", HOST,
                "server.port", port,
                "server.servlet.context-path", application.contextRoot(),
                "server.tomcat.max-keep-alive-requests", NO_LIMIT,
                "server.tomcat.max-connections", CONNECTIONS_AT_ONCE,
                "server.tomcat.accept-count", BACKLOG,
                "server.tomcat.connection-timeout", KEPT_MS,
                "server.tomcat.keep-alive-timeout", KEPT_MS,
                "spring.threads.virtual.enabled", executor.equals(OWN_VIRTUAL)));
        // The bank's JSON, with the names and their order of BankJson.
        properties.put("spring.jackson.property-naming-strategy", "SNAKE_CASE");
        properties.put("spring.jackson.mapper.sort-properties-alphabetically", true);
        properties.put("spring.jackson.mapper.sort-creator-properties-first", false);
        // A SIGTERM ends the process at once. Only warnings are logged.
        properties.put("spring.main.register-shutdown-hook", false);
        properties.put("logging.register-shutdown-hook", false);
        properties.put("spring.main.banner-mode", "off");
        properties.put("logging.level.root", "warn");

        List<Class<?>> sources =
                new ArrayList<>(List.of(Configured.class, controller(application), Problems.class, tomcat));
        if (application == Application.BANK_SQL) {
            sources.add(SqlConfiguration.class);
            properties.putAll(SqlConfiguration.properties());
        } else {
            properties.put("spring.autoconfigure.exclude", NO_DATABASE);
        }
        SpringApplication boot = new SpringApplication(sources.toArray(Class<?>[]::new));
        boot.setDefaultProperties(properties);
        boot.addInitializers(context -> context.getBeanFactory().registerSingleton("threads", threads));
        Environment environment = boot.run().getEnvironment();
        return environment.getRequiredProperty("local.server.port", Integer.class);
    }

    private static Class<?> controller(Application application) {
        return switch (application) {
            case MP_PING -> PingController.class;
            case BANKING, BANK_SQL -> BankController.class;
            case PINNING -> PinningController.class;
        };
    }

    @Override
    public OwnPoolMXBean ownPool() {
        return threads.ownPool();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Configured {
        @Bean
        ServletContextInitializer probes() {
            return ServletProbes::addTo;
        }
    }
}
