package jdkmatrix.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProcessTest {
    private static final int SIGTERMED = 128 + 15;

    private static void assertRefused(int status, String message, String... arguments)
            throws IOException, InterruptedException {
        Process process = Running.start(List.of(), arguments);
        try {
            assertEquals(status, Running.endOf(process));
            String said = Running.saidWrong(process);
            assertEquals(message, said.substring(0, Math.min(message.length(), said.length())));
            assertEquals(1, said.lines().count());
        } finally {
            process.destroyForcibly();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"own", "virtual", "fixed-2"})
    void aSigtermEndsItWhateverIsInFlight(String executor) throws IOException, InterruptedException {
        assumeTrue(Running.TAKES_EXECUTORS || executor.equals("own"));
        try (Running server = new Running("pinning", executor);
                Client blocked = server.connect();
                Client other = server.connect()) {
            blocked.send(Client.getOf("/pinning/servlet/block?construct=none&block_ms=600000"));
            while (other.get("/pinning/gauges").json().getInt("in_flight") == 0) {
                Thread.onSpinWait();
            }
            Process process = server.terminate();
            assertEquals(SIGTERMED, Running.endOf(process));
            assertEquals("", Running.saidWrong(process));
        }
    }

    @Test
    void itListensOnOneAddress() throws IOException {
        try (Running server = new Running("mp-ping", "own")) {
            InetAddress another = InetAddress.getByName("127.0.0.2");
            assertThrows(ConnectException.class, () -> new Socket(another, server.port()).close());
        }
    }

    @Test
    void aPortInUseIsSaid() throws IOException, InterruptedException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = String.valueOf(taken.getLocalPort());
            assertRefused(
                    1,
                    "server: 127.0.0.1:" + port + " cannot be bound: Address already in use",
                    "--port", port, "--application", "mp-ping", "--executor", "own");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "65536, mp-ping, own, '--port = 65536: 0 to 65535 are allowed'",
        "x, mp-ping, own, 'Invalid value for option ''--port'': ''x'' is not an int'",
        "0, ping, own, '--application = \"ping\": one of mp-ping, banking, bank-sql, pinning is needed'",
        "0, mp-ping, liberty, 'unknown request executor: found liberty, allowed are cached, fixed-N, '",
        "0, mp-ping, structured, 'unknown request executor: found structured, allowed are cached, fixed-N, '",
        "0, mp-ping, fixed-0, 'unknown request executor: found fixed-0, allowed are cached, fixed-N, '",
    })
    void wrongUsageIsSaid(String port, String application, String executor, String message)
            throws IOException, InterruptedException {
        assumeTrue(Running.TAKES_EXECUTORS || !message.startsWith("unknown request executor"));
        assertRefused(2, message, "--port", port, "--application", application, "--executor", executor);
    }

    @Test
    void aServerThatTakesNoExecutorsSaysSo() throws IOException, InterruptedException {
        assumeFalse(Running.TAKES_EXECUTORS);
        String message = "--executor = \"virtual\": this server has none but own";
        assertRefused(2, message, "--port", "0", "--application", "mp-ping", "--executor", "virtual");
    }

    @Test
    void everyOptionIsNeeded() throws IOException, InterruptedException {
        assertRefused(2, "Missing required option: '--executor=NAME'", "--port", "0", "--application", "mp-ping");
    }

    @Test
    void everyApplicationIsNamedAsAllowed() {
        for (Application application : Application.values()) {
            assertTrue(List.of(Application.ALLOWED.split(", ")).contains(application.toString()));
            assertEquals(application, Application.named("--application", application.toString()));
        }
    }
}
