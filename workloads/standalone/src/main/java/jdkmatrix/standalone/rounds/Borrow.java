package jdkmatrix.standalone.rounds;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/**
 * Takes a connection and gives it back until the time is over. Each thread counts its own borrows and times one in a
 * few, since anything that all threads write to would be what they contend for.
 *
 * <p>No thread begins before all are there: virtual threads that find free connections never park, and a few of them
 * would keep the carriers from all others, which would then not contend. It may come to that later; the number of
 * threads that had a connection in the measured time shows it.
 */
final class Borrow implements Operation {
    private static final int TIMED_OF = 64;

    private final DataSource pool;
    private final boolean yields;
    private final CountDownLatch ready;
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger served = new AtomicInteger();

    /** @param threads how many perform at a time */
    Borrow(int connections, int threads, boolean yields) throws Exception {
        DriverManager.registerDriver(new StubDriver());
        this.pool = Pools.pool(StubDriver.URL, connections);
        this.yields = yields;
        this.ready = new CountDownLatch(threads);
    }

    @Override
    public void perform(Tally tally) throws SQLException, InterruptedException {
        ready.countDown();
        ready.await();
        AtomicLong borrows = tally.counter();
        // A thread that waits for seconds has few borrows: if the first of each were timed, it would count for many.
        int phase = begun.getAndIncrement() % TIMED_OF;
        boolean had = false;
        while (!tally.isOver()) {
            if ((borrows.getPlain() + phase) % TIMED_OF == 0) {
                long askedNs = System.nanoTime();
                Connection connection = pool.getConnection();
                tally.waitedSince(askedNs);
                giveBack(connection);
            } else {
                giveBack(pool.getConnection());
            }
            if (!had && tally.isMeasuring()) {
                had = true;
                served.incrementAndGet();
            }
            borrows.setRelease(borrows.getPlain() + 1);
        }
    }

    private void giveBack(Connection connection) throws SQLException {
        if (yields) {
            Thread.yield();
        }
        connection.close();
    }

    @Override
    public Map<String, String> about() {
        return Map.of("Threads that had a connection while it was measured", "%,d".formatted(served.get()));
    }

    @Override
    public void close() {
        Pools.close(pool);
    }
}
