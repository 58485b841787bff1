package jdkmatrix.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ProcessTest {
    private static final int WAIT_S = 600;

    private static Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "-Xmx512m",
                "-XX:TieredStopAtLevel=1",
                // The jar's manifest does this; here, there is no jar.
                "--enable-native-access=ALL-UNNAMED",
                Main.class.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).start();
    }

    private static int readyPort(Process process) throws IOException {
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        JsonObject ready = new JsonObject(String.valueOf(out.readLine()));
        assertEquals("ready", ready.getString("event"));
        return ready.getInteger("port");
    }

    @Test
    void theEndOfItsInputEndsItWhateverIsInFlight() throws IOException, InterruptedException {
        Process process = start();
        try (Client client = new Client(readyPort(process))) {
            assertEquals(200, client.get("/answer?delay_us=1").status());
            client.send("GET /answer?delay_us=600000000 HTTP/1.1\r\nHost: remote\r\n\r\n");
            process.getOutputStream().close();
            assertTrue(process.waitFor(WAIT_S, TimeUnit.SECONDS));
            assertEquals(0, process.exitValue());
            assertEquals("", new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8));
        } finally {
            process.destroyForcibly();
        }
    }

    /** The rehearsal is over, and the first period contains nothing of it. */
    @Test
    void itsFiguresBeginWithNothing() throws IOException {
        Process process = start("--threads", "2");
        try {
            JsonObject stats = Client.stats(readyPort(process));
            assertEquals(0, stats.getLong("answered"));
            assertEquals(0, stats.getLong("in_flight"));
            assertEquals(0, stats.getLong("in_flight_peak"));
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void aPortInUseIsSaid() throws IOException, InterruptedException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            refused(1, "remote: 127.0.0.1:%d cannot be bound: ".formatted(taken.getLocalPort()),
                    "--port", String.valueOf(taken.getLocalPort()));
        }
    }

    @Test
    void wrongUsageIsSaid() throws IOException, InterruptedException {
        refused(2, "--threads = 0: 1 to 256 are allowed", "--threads", "0");
        refused(2, "--port = 65536: 0 to 65535 are allowed", "--port", "65536");
    }

    private static void refused(int status, String message, String... arguments)
            throws IOException, InterruptedException {
        Process process = start(arguments);
        try {
            assertTrue(process.waitFor(WAIT_S, TimeUnit.SECONDS));
            assertEquals(status, process.exitValue());
            String said = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(said.startsWith(message), said);
            assertEquals(1, said.lines().count(), said);
        } finally {
            process.destroyForcibly();
        }
    }

    /**
     * Each request has a connection of its own, since HTTP/1.1 answers those of one connection one after the other;
     * there are fewer where the limit on open files is lower. The server is a process of its own, as it needs as many.
     */
    @Test
    void tenThousandInFlight() throws IOException, InterruptedException {
        UnixOperatingSystemMXBean os = ManagementFactory.getPlatformMXBean(UnixOperatingSystemMXBean.class);
        int many = (int) Math.min(10_000, os.getMaxFileDescriptorCount() - os.getOpenFileDescriptorCount() - 200);
        Process process = start();
        List<Client> clients = new ArrayList<>();
        try {
            int port = readyPort(process);
            long sinceNs = System.nanoTime();
            for (int i = 0; i < many; i++) {
                clients.add(new Client(port));
            }
            // All must be in before the first is answered, and a client waits for 20 s.
            long delayNs = Math.min(15_000_000_000L, Math.max(5_000_000_000L, 5 * (System.nanoTime() - sinceNs)));
            long[] fromNs = new long[many];
            for (int i = 0; i < many; i++) {
                fromNs[i] = System.nanoTime();
                clients.get(i).send("GET /answer?delay_us=" + delayNs / 1_000 + " HTTP/1.1\r\nHost: remote\r\n\r\n");
            }
            for (int i = 0; i < many; i++) {
                Client.Answer answer = clients.get(i).receive();
                assertEquals(200, answer.status());
                assertTrue(answer.atNs() - fromNs[i] >= delayNs, "early");
            }
            JsonObject stats = Client.stats(port);
            assertEquals(many, stats.getLong("answered"));
            assertEquals(many, stats.getLong("in_flight_peak"));
            assertEquals(0, stats.getLong("in_flight"));
            assertEquals(many, stats.getJsonObject("lateness").getLong("count"));
        } finally {
            for (Client client : clients) {
                client.close();
            }
            process.destroyForcibly();
        }
    }
}
