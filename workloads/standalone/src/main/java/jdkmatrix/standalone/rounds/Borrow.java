package jdkmatrix.standalone.rounds;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * Takes a connection and gives it back until the time is over. Borrows are counted, and each first of a few is timed, since
 * what all threads write to would be what they contend for.
 */
final class Borrow implements Operation {
    private static final int TIMED_OF = 64;

    private final DataSource pool;
    private final boolean yields;

    Borrow(int connections, boolean yields) throws Exception {
        DriverManager.registerDriver(new StubDriver());
        this.pool = Pools.pool(StubDriver.URL, connections);
        this.yields = yields;
    }

    @Override
    public void perform(Tally tally) throws SQLException {
        int untold = 0;
        while (!tally.isOver()) {
            if (untold == 0) {
                long askedNs = System.nanoTime();
                Connection connection = pool.getConnection();
                tally.waited(System.nanoTime() - askedNs);
                giveBack(connection);
            } else {
                giveBack(pool.getConnection());
            }
            if (++untold == TIMED_OF) {
                tally.done(untold);
                untold = 0;
            }
        }
        tally.done(untold);
    }

    private void giveBack(Connection connection) throws SQLException {
        if (yields) {
            Thread.yield();
        }
        connection.close();
    }

    @Override
    public void close() {
        Pools.close(pool);
    }
}
