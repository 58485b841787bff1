package jdkmatrix.springmvc;

import java.sql.Connection;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import jdkmatrix.banksql.Connections;
import jdkmatrix.serverprobes.ApplicationGauges;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SmartDataSource;

/** Spring's pool, with {@link Connections} told of each that is taken, and of each that Spring asks about before it closes it. */
final class WatchedPool extends DelegatingDataSource implements SmartDataSource {
    private final Connections connections;
    private final Map<Connection, Long> takenNs = new ConcurrentHashMap<>();

    WatchedPool(DataSource pool, Duration patience) {
        super(pool);
        connections = new Connections(pool, patience);
        ApplicationGauges.ADDED.add(connections);
    }

    @Override
    public Connection getConnection() {
        Connection connection = connections.taken();
        takenNs.put(connection, System.nanoTime());
        return connection;
    }

    @Override
    public boolean shouldClose(Connection connection) {
        connections.givenBack(takenNs.remove(connection));
        return true;
    }
}
