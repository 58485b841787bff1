package jdkmatrix.banksql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import javax.sql.DataSource;
import jdkmatrix.serverprobes.ApplicationGauges;
import jdkmatrix.serverprobes.PeakCount;
import jdkmatrix.serverprobes.Problem;
import jdkmatrix.serverprobes.Text;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/** A bounded pool of connections that measures how long requests wait for one. Thread-safe. */
public final class Connections implements ApplicationGauges {
    private static final int DIGITS = 3;
    private static final long LONGEST_US = Duration.ofMinutes(15).toNanos() / 1_000;

    @FunctionalInterface
    interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    @FunctionalInterface
    interface Query<T> {
        T ask() throws SQLException;
    }

    private final DataSource pool;
    private final Duration patience;
    private final long openedNs = System.nanoTime();
    private final LongAdder timeouts = new LongAdder();
    private final LongAdder busyNs = new LongAdder();
    private final PeakCount inUse = new PeakCount();
    private final Recorder waitsUs = new Recorder(LONGEST_US, DIGITS);
    /** The waits since the last reset; guarded by its own monitor. */
    private final Histogram since = new Histogram(LONGEST_US, DIGITS);

    private Histogram interval;

    /** @param patience the longest time that the pool keeps a request waiting */
    public Connections(DataSource pool, Duration patience) {
        this.pool = pool;
        this.patience = patience;
    }

    /** Opens a pool of a fixed size, otherwise with the defaults of its library. */
    static Connections of(DatabaseSettings settings) {
        Duration patience = Duration.ofMillis(settings.waitMsMax());
        Connections connections = asked(() -> new Connections(pool(settings, patience), patience));
        ApplicationGauges.ADDED.add(connections);
        return connections;
    }

    private static DataSource pool(DatabaseSettings settings, Duration patience) throws SQLException {
        return switch (settings.pool()) {
            case hikari -> hikari(settings);
            case agroal -> agroal(settings, patience);
        };
    }

    /** When this returns, one connection is open and the pool goes on to open the others. */
    private static DataSource hikari(DatabaseSettings settings) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(settings.url());
        config.setMaximumPoolSize(settings.connections());
        config.setConnectionTimeout(settings.waitMsMax());
        return new HikariDataSource(config);
    }

    private static DataSource agroal(DatabaseSettings settings, Duration patience) throws SQLException {
        return AgroalDataSource.from(new AgroalDataSourceConfigurationSupplier()
                .connectionPoolConfiguration(pool -> pool.initialSize(settings.connections())
                        .minSize(settings.connections())
                        .maxSize(settings.connections())
                        .acquisitionTimeout(patience)
                        .connectionFactoryConfiguration(factory -> factory.jdbcUrl(settings.url()))));
    }

    /** @throws Problem 500 if the database refuses, in its own words */
    static <T> T asked(Query<T> query) {
        try {
            return query.ask();
        } catch (SQLException refused) {
            throw refused(refused);
        }
    }

    /** Reports a refusal by the database in its own words. */
    public static Problem refused(Exception refused) {
        return new Problem(500, "the database: " + Text.quoted(refused.getMessage()));
    }

    /** @throws Problem 503 if there was no connection in time, 500 as {@link #asked} */
    <T> T with(Work<T> work) {
        return asked(() -> {
            Connection connection = taken();
            try (connection) {
                return counted(System.nanoTime(), work, connection);
            }
        });
    }

    @Override
    public void putInto(Map<String, Object> answer, boolean reset) {
        answer.put("total_connection_timeouts", timeouts.sum());
        answer.put("total_connections_busy_us", busyNs.sum() / 1_000);
        answer.put("total_connections_clock_us", (System.nanoTime() - openedNs) / 1_000);
        synchronized (since) {
            interval = waitsUs.getIntervalHistogram(interval);
            since.add(interval);
            if (since.getTotalCount() > 0) {
                answer.put("window_connection_wait_p50_us", since.getValueAtPercentile(50));
                answer.put("window_connection_wait_p99_us", since.getValueAtPercentile(99));
                answer.put("window_connection_wait_most_us", since.getMaxValue());
            }
            if (reset) {
                since.reset();
            }
        }
        answer.put("window_connections_in_use_peak", reset ? inUse.takePeak() : inUse.peak());
    }

    /** Stops counting a connection as in use. Call it right before closing, which frees the connection for others. */
    public void givenBack(long takenNs) {
        inUse.down();
        busyNs.add(System.nanoTime() - takenNs);
    }

    private <T> T counted(long takenNs, Work<T> work, Connection connection) throws SQLException {
        try {
            return work.on(connection);
        } finally {
            givenBack(takenNs);
        }
    }

    /**
     * Takes a connection from the pool; it counts as in use until {@link #givenBack}.
     *
     * @throws Problem 503 if there was no connection in time
     */
    public Connection taken() {
        long askedNs = System.nanoTime();
        try {
            Connection connection = pool.getConnection();
            record(askedNs);
            inUse.up();
            return connection;
        } catch (SQLException none) {
            if (record(askedNs) < patience.toNanos()) {
                throw new Problem(503, "no connection to the database: " + Text.quoted(none.getMessage()));
            }
            timeouts.increment();
            throw new Problem(503, "no connection to the database within " + patience.toMillis() + " ms");
        }
    }

    /** @return nanoseconds since {@code askedNs} */
    private long record(long askedNs) {
        long waitedNs = System.nanoTime() - askedNs;
        waitsUs.recordValue(Math.min(waitedNs / 1_000, LONGEST_US));
        return waitedNs;
    }
}
