package jdkmatrix.standalone.rounds;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Takes a connection and gives it back until the time is over. */
final class Borrow implements Operation {
    private final DataSource pool;
    private final boolean yields;

    Borrow(int connections, boolean yields) throws Exception {
        DriverManager.registerDriver(new StubDriver());
        this.pool = Pools.pool(StubDriver.URL, connections);
        this.yields = yields;
    }

    @Override
    public void perform(Tally tally) throws SQLException {
        while (!tally.isOver()) {
            long askedNs = System.nanoTime();
            Connection connection = pool.getConnection();
            tally.waited(System.nanoTime() - askedNs);
            if (yields) {
                Thread.yield();
            }
            connection.close();
            tally.done();
        }
    }

    @Override
    public void close() {
        Pools.close(pool);
    }
}
