package jdkmatrix.springmvc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import jdkmatrix.banksql.Connections;
import jdkmatrix.serverprobes.ApplicationGauges;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SmartDataSource;

/** Spring's pool; tells {@link Connections} of each connection taken, and of each that Spring is about to close. */
final class WatchedPool extends DelegatingDataSource implements SmartDataSource {
    private final Connections connections;
    private final Map<Connection, Long> takenNs = new ConcurrentHashMap<>();

    WatchedPool(DataSource pool, Duration patience) {
        super(pool);
        connections = new Connections(pool, patience);
        ApplicationGauges.ADDED.add(connections);
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = connections.taken();
        long sinceNs = System.nanoTime();
        try {
            takenNs.put(connection, sinceNs);
            return connection;
        } catch (Throwable failed) { // otherwise nobody would have it, and nobody would give it back
            connections.givenBack(sinceNs);
            connection.close();
            throw failed;
        }
    }

    @Override
    public boolean shouldClose(Connection connection) {
        connections.givenBack(takenNs.remove(connection));
        return true;
    }
}
