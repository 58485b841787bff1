package jdkmatrix.banksql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.HashMap;
import java.util.Map;
import jdkmatrix.serverprobes.Problem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DatabaseSettingsTest {
    private static final String URL = "jdbc:postgresql://127.0.0.1:5432/postgres";

    private static DatabaseSettings of(String connections, String waitMsMax) {
        return of("hikari", connections, waitMsMax);
    }

    private static DatabaseSettings of(String pool, String connections, String waitMsMax) {
        Map<String, String> properties = new HashMap<>();
        properties.put("jdkmatrix.database.url", URL);
        properties.put("jdkmatrix.database.pool", pool);
        properties.put("jdkmatrix.database.connections", connections);
        properties.put("jdkmatrix.database.wait_ms_max", waitMsMax);
        return DatabaseSettings.of(properties::get);
    }

    @Test
    void areReadFromSystemProperties() {
        assertEquals(new DatabaseSettings(URL, DatabaseSettings.Library.hikari, 50, 5_000), of("50", "5000"));
    }

    @Test
    void aLibraryThatIsNotKnownIsNamed() {
        Problem problem = assertThrows(Problem.class, () -> of("dbcp", "50", "5000"));
        assertEquals(
                "system property jdkmatrix.database.pool: expected hikari or agroal, found dbcp", problem.getMessage());
    }

    @ParameterizedTest
    @CsvSource({
        "connections, , 5000, 'from 1 to 1000, found nothing'",
        "connections, 0, 5000, 'from 1 to 1000, found 0'",
        "wait_ms_max, 50, 249, 'from 250 to 600000, found 249'",
        "wait_ms_max, 50, soon, 'from 250 to 600000, found soon'"
    })
    void whatIsWrongIsNamed(String property, String connections, String waitMsMax, String told) {
        Problem problem = assertThrows(Problem.class, () -> of(connections, waitMsMax));
        assertEquals(500, problem.status());
        assertEquals(
                "system property jdkmatrix.database." + property + ": expected a whole number " + told,
                problem.getMessage());
    }
}
