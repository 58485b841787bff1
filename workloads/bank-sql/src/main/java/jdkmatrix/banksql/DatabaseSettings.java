package jdkmatrix.banksql;

import java.util.function.UnaryOperator;
import jdkmatrix.serverprobes.Parameters;

/**
 * What the server process is told of its database.
 *
 * @param pool the library that keeps the connections, where the server does not bring one
 * @param connections of the pool, all the time
 * @param waitMsMax for how long a request waits for one of them
 */
public record DatabaseSettings(String url, Library pool, int connections, int waitMsMax) {
    /** By its name in the property. */
    enum Library {
        hikari,
        agroal
    }

    private static final String URL = "jdkmatrix.database.url";
    private static final String POOL = "jdkmatrix.database.pool";
    private static final String CONNECTIONS = "jdkmatrix.database.connections";
    private static final String WAIT_MS_MAX = "jdkmatrix.database.wait_ms_max";
    private static final int MAX_CONNECTIONS = 1_000;
    /** HikariCP takes no less. */
    private static final int LEAST_WAIT_MS = 250;
    private static final int LONGEST_WAIT_MS = 600_000;

    /**
     * @param property gives a system property by its name, or null
     * @throws jdkmatrix.serverprobes.Problem 500 names the property that is missing or wrong
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
