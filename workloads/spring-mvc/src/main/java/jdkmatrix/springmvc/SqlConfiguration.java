package jdkmatrix.springmvc;

import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;
import jdkmatrix.banking.Endpoints;
import jdkmatrix.banksql.DatabaseSettings;
import jdkmatrix.banksql.Layout;
import jdkmatrix.banksql.SqlAudit;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.support.TransactionTemplate;

/** The bank on a database through Spring Data JDBC, with the pool that Spring Boot makes: HikariCP. */
@Configuration(proxyBeanMethods = false)
class SqlConfiguration {
    static final DatabaseSettings SETTINGS = DatabaseSettings.of(System::getProperty);

    static Map<String, Object> properties() {
        return Map.of(
                "spring.datasource.url", SETTINGS.url(),
                "spring.datasource.hikari.maximum-pool-size", SETTINGS.connections(),
                "spring.datasource.hikari.connection-timeout", SETTINGS.waitMsMax());
    }

    @Bean
    static BeanPostProcessor watched() {
        return new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String name) {
                return bean instanceof DataSource pool
                        ? new WatchedPool(pool, Duration.ofMillis(SETTINGS.waitMsMax()))
                        : bean;
            }
        };
    }

    /** Runs before the server's port opens, after which a request could open other books. */
    @Bean
    SmartInitializingSingleton books(AccountRows accounts, TransferRows transfers, TransactionTemplate transaction) {
        return () -> Endpoints.openBooksBy((size, property) -> {
            Layout.of(SETTINGS.url(), size);
            return new SpringDataBooks(accounts, transfers, transaction, size, new SqlAudit(SETTINGS.url(), size));
        });
    }
}
