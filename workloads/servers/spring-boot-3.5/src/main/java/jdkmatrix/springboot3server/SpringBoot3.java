package jdkmatrix.springboot3server;

import jdkmatrix.embedded.ServerProgram;
import jdkmatrix.springmvc.SpringBootServer;
import jdkmatrix.tomcatthreads.TomcatThreads;
import org.apache.catalina.Valve;
import org.apache.coyote.AbstractProtocol;
import org.springframework.boot.web.embedded.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.embedded.tomcat.TomcatProtocolHandlerCustomizer;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** {@link SpringBootServer} on Spring Boot 3. */
public final class SpringBoot3 {
    private SpringBoot3() {}

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
