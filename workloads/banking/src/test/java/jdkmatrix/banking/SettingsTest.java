package jdkmatrix.banking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import jdkmatrix.serverprobes.Problem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsTest {
    private static final String URL = "http://127.0.0.1:9999/answer?delay_us=2000&size_bytes=1024";

    private static Map<String, String> properties() {
        return new HashMap<>(Map.of(Settings.REMOTE_URL, URL, Settings.ACCOUNTS, "1000"));
    }

    @Test
    void timeoutAndClientMayBeLeftOut() {
        Map<String, String> properties = properties();
        assertEquals(
                new Settings(URI.create(URL), 1_000, Duration.ofSeconds(30), RemoteSystem.Client.HTTP_CLIENT),
                Settings.of(properties::get));
        properties.put(Settings.REMOTE_TIMEOUT_MS, "250");
        assertEquals(Duration.ofMillis(250), Settings.of(properties::get).timeout());
        properties.put(Settings.REMOTE_CLIENT, "socket");
        assertEquals(RemoteSystem.Client.SOCKET, Settings.of(properties::get).client());
    }

    @ParameterizedTest
    @CsvSource({
        "jdkmatrix.remote.url,,a URL as in",
        "jdkmatrix.remote.url,https://127.0.0.1/answer,a URL as in",
        "jdkmatrix.remote.url,127.0.0.1:9999,a URL as in",
        "jdkmatrix.remote.url,http:///answer,a URL as in",
        "jdkmatrix.remote.url,http://127.0.0.1/a b,a URL as in",
        "jdkmatrix.banking.accounts,,a whole number from 2 to 100000",
        "jdkmatrix.banking.accounts,1,a whole number from 2 to 100000",
        "jdkmatrix.banking.accounts,100001,a whole number from 2 to 100000",
        "jdkmatrix.remote.timeout_ms,0,a whole number from 1 to 3600000",
        "jdkmatrix.remote.client,netty,http-client or socket",
        "jdkmatrix.remote.timeout_ms,soon,a whole number from 1 to 3600000",
    })
    void aWrongPropertyIsNamed(String property, String value, String expected) {
        Map<String, String> properties = properties();
        properties.put(property, value);
        Problem problem = assertThrows(Problem.class, () -> Settings.of(properties::get));
        assertEquals(500, problem.status());
        String message = problem.getMessage();
        assertTrue(message.startsWith("system property " + property + ": expected " + expected), message);
        assertTrue(message.endsWith(", found " + (value == null ? "nothing" : value)), message);
        assertEquals(1, message.lines().count());
    }
}
