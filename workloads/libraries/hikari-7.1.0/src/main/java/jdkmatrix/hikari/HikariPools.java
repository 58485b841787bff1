package jdkmatrix.hikari;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import javax.sql.DataSource;
import jdkmatrix.common.jdbc.ConnectionPools;

/** HikariCP. */
public final class HikariPools implements ConnectionPools {
    @Override
    public DataSource pool(String url, int connections) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(connections);
        config.setConnectionTimeout(0); // none, as with other libraries: the end of the time shows who waits too long
        return new HikariDataSource(config);
    }
}
