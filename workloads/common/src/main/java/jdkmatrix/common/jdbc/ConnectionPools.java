package jdkmatrix.common.jdbc;

import javax.sql.DataSource;

/** A library that keeps connections, found as a service: one is on the class path. */
public interface ConnectionPools {
    /**
     * A pool as the library makes it by default, but for its size.
     *
     * @param url of a driver that java.sql.DriverManager knows
     * @param connections at most
     */
    DataSource pool(String url, int connections) throws Exception;
}
