package jdkmatrix.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProcessTest {
    private static final int SIGTERMED = 128 + 15;

    @ParameterizedTest
    @ValueSource(strings = {"own", "virtual"})
    void itListensOnOneAddressAndASigtermEndsItWhateverIsInFlight(String executor) throws IOException, InterruptedException {
        assumeTrue(Running.has(executor));
        try (Running server = new Running("pinning", executor);
                Client blocked = server.connect();
                Client other = server.connect()) {
            InetAddress another = InetAddress.getByName("127.0.0.2");
            assertThrows(ConnectException.class, () -> new Socket(another, server.port()).close());
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
    void aPortInUseIsSaid() throws IOException, InterruptedException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = String.valueOf(taken.getLocalPort());
            Process process = Running.start(List.of(), "--port", port, "--application", "mp-ping", "--executor", "own");
            try {
                assertEquals(1, Running.endOf(process));
                String said = Running.saidWrong(process);
                assertTrue(said.startsWith("server: 127.0.0.1:" + port + " cannot be bound: Address already in use"), said);
                assertEquals(1, said.lines().count());
            } finally {
                process.destroyForcibly();
            }
        }
    }
}
