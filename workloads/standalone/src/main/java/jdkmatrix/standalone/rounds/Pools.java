package jdkmatrix.standalone.rounds;

import java.util.ServiceLoader;
import javax.sql.DataSource;
import jdkmatrix.common.jdbc.ConnectionPools;

/** The pool of connections that is on the class path. */
final class Pools {
    private Pools() {}

    /** @throws IllegalStateException when there is none, or more than one and nobody said which */
    static DataSource pool(String url, int connections) throws Exception {
        var found = ServiceLoader.load(ConnectionPools.class).stream().toList();
        if (found.size() != 1) {
            throw new IllegalStateException(
                    "%d libraries with a pool of connections on the class path: one is needed".formatted(found.size()));
        }
        return found.getFirst().get().pool(url, connections);
    }

    /** Closes a pool, which ends its threads if it has any. */
    static void close(DataSource pool) {
        if (pool instanceof AutoCloseable closeable) {
            try {
                closeable.close();
            } catch (Exception why) {
                throw new IllegalStateException(why);
            }
        }
    }
}
