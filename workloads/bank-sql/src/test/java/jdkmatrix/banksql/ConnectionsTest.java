package jdkmatrix.banksql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import jdkmatrix.serverprobes.Problem;
import org.junit.jupiter.api.Test;

class ConnectionsTest {
    private static final Duration PATIENCE = Duration.ofMillis(20);

    private final Semaphore free = new Semaphore(2);
    private final Connections connections = new Connections(pool(), PATIENCE);

    private static <T> T made(Class<T> type, Calls calls) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> calls.of(method.getName())));
    }

    @FunctionalInterface
    private interface Calls {
        Object of(String method) throws Exception;
    }

    /** Returns a pool of two connections, which are free again once they are closed. */
    private DataSource pool() {
        Connection connection = made(Connection.class, method -> {
            free.release();
            return null;
        });
        return made(DataSource.class, method -> {
            if (!free.tryAcquire(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new SQLTransientConnectionException("none");
            }
            return connection;
        });
    }

    private Map<String, Object> gauges(boolean reset) {
        Map<String, Object> answer = new LinkedHashMap<>();
        connections.putInto(answer, reset);
        return answer;
    }

    @Test
    void aRequestThatGetsNoneInTimeIsCountedAndFails() {
        String answer = connections.with(first -> connections.with(second -> {
            Problem none = assertThrows(Problem.class, () -> connections.with(third -> "never"));
            assertEquals(503, none.status());
            assertEquals("no connection to the database within 20 ms", none.getMessage());
            return "answered";
        }));
        assertEquals("answered", answer);
        assertEquals(2, free.availablePermits(), "each went back");
        Map<String, Object> told = gauges(true);
        assertEquals(1L, told.get("total_connection_timeouts"));
        assertEquals(2, told.get("window_connections_in_use_peak"));
        assertTrue((long) told.get("window_connection_wait_most_us") >= PATIENCE.toMillis() * 1_000, told::toString);
        assertTrue((long) told.get("total_connections_busy_us") > 0, told::toString);

        Map<String, Object> since = gauges(false);
        assertEquals(1L, since.get("total_connection_timeouts"), "counts go on");
        assertEquals(0, since.get("window_connections_in_use_peak"));
        assertFalse(since.containsKey("window_connection_wait_most_us"), "nobody has asked since the reset");
    }

    @Test
    void whatTheDatabaseRefusesIsToldInItsWordsAndGivesTheConnectionBack() {
        Problem refused = assertThrows(Problem.class, () -> connections.with(connection -> {
            throw new SQLException("deadlock detected");
        }));
        assertEquals(500, refused.status());
        assertEquals("the database: \"deadlock detected\"", refused.getMessage());
        assertEquals(2, free.availablePermits());
        assertEquals(0L, gauges(false).get("total_connection_timeouts"));
    }
}
