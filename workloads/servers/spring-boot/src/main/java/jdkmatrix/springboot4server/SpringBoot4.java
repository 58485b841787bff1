package jdkmatrix.springboot4server;

import jdkmatrix.embedded.ServerProgram;
import jdkmatrix.springmvc.SpringBootServer;
import jdkmatrix.tomcatthreads.TomcatThreads;
import org.apache.catalina.Valve;
import org.apache.coyote.AbstractProtocol;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.tomcat.TomcatProtocolHandlerCustomizer;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** {@link SpringBootServer} on Spring Boot 4. */
public final class SpringBoot4 {
    private SpringBoot4() {}

    public static void main(String[] args) {
        ServerProgram.run(new SpringBootServer(Tomcat.class), args);
    }

    @Configuration(proxyBeanMethods = false)
    static class Tomcat {
        @Bean
        TomcatProtocolHandlerCustomizer<AbstractProtocol<?>> connector(TomcatThreads threads) {
            return threads::runRequestsOf;
        }

        @Bean
        WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> engine(TomcatThreads threads) {
            return factory -> factory.addEngineValves(threads.valve().stream().toArray(Valve[]::new));
        }
    }
}
