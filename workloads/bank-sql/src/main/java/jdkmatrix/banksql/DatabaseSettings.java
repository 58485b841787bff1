package jdkmatrix.banksql;

import java.util.function.UnaryOperator;
import jdkmatrix.serverprobes.Parameters;

/**
 * The database settings of the server process.
 *
 * @param pool the connection pool library, where the server does not bring its own
 * @param connections the size of the pool at all times
 * @param waitMsMax how long a request waits for a connection at most
 */
public record DatabaseSettings(String url, Library pool, int connections, int waitMsMax) {
    /** Named as in the property. */
    enum Library {
        hikari,
        agroal
    }

    private static final String URL = "jdkmatrix.database.url";
    private static final String POOL = "jdkmatrix.database.pool";
    private static final String CONNECTIONS = "jdkmatrix.database.connections";
    private static final String WAIT_MS_MAX = "jdkmatrix.database.wait_ms_max";
    private static final int MAX_CONNECTIONS = 1_000;
    /** The least that HikariCP accepts. */
    private static final int LEAST_WAIT_MS = 250;
    private static final int LONGEST_WAIT_MS = 600_000;

    /**
     * @param property returns a system property by name, or null
     * @throws jdkmatrix.serverprobes.Problem 500 naming the property that is missing or wrong
     */
    public static DatabaseSettings of(UnaryOperator<String> property) {
        return new DatabaseSettings(
                property.apply(URL),
                Parameters.named(POOL, property.apply(POOL), Library.values(), Library::name),
                (int) Parameters.wholeProperty(CONNECTIONS, property.apply(CONNECTIONS), 1, MAX_CONNECTIONS),
                (int) Parameters.wholeProperty(
                        WAIT_MS_MAX, property.apply(WAIT_MS_MAX), LEAST_WAIT_MS, LONGEST_WAIT_MS));
    }
}
