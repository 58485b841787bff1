package jdkmatrix.common.jdbc;

import javax.sql.DataSource;

/** A connection pool library, found as a service: one is on the class path. */
public interface ConnectionPools {
    /**
     * Creates a pool with the library's defaults, except for its size and that the wait for a connection is unlimited.
     *
     * @param url of a driver that java.sql.DriverManager knows
     * @param connections the maximum number
     */
    DataSource pool(String url, int connections) throws Exception;
}
