package jdkmatrix.banking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import jdkmatrix.serverprobes.Problem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RemoteUrlTest {
    private static final URI BASE = URI.create("http://127.0.0.1:9999/answer?delay_us=2000&size_bytes=1024");

    @Test
    void parametersAreReplacedOrAdded() {
        assertEquals(
                URI.create("http://127.0.0.1:9999/answer?delay_us=500000&size_bytes=1024&fault=status-500"),
                RemoteUrl.with(BASE, "fault=status-500&delay_us=500000"));
        assertEquals(BASE, RemoteUrl.with(BASE, "size_bytes=1024"));
        assertEquals(
                URI.create("http://127.0.0.1:9999/a?sigma=0.5"),
                RemoteUrl.with(URI.create("http://127.0.0.1:9999/a"), "sigma=0.5"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "fault", "fault=", "=x", "a=b&", "a=b c", "a=b#c", "a=b&http://x", "a=%0d", "A=b", "a=b\nc=d"})
    void anythingElseIsTheClientsFaultInOneLine(String order) {
        Problem problem = assertThrows(Problem.class, () -> RemoteUrl.with(BASE, order));
        assertEquals(400, problem.status());
        assertTrue(problem.getMessage().startsWith("X-Remote: expected parameters as in "), problem.getMessage());
        assertEquals(1, problem.getMessage().lines().count());
    }
}
