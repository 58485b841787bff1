package jdkmatrix.remote;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import java.io.EOFException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AnswersTest {
    private RemoteServer server;
    private int port;

    @BeforeEach
    void start() throws InterruptedException {
        server = RemoteServer.start(0, 1);
        port = server.port();
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
        }
    }

    @Test
    void delaysAreCutToTheLongestThatIsAllowedUntilThatIsTakenBack() throws IOException {
        try (Client client = new Client(port)) {
            client.send("POST /delay?at_most_us=1000 HTTP/1.1\r\nHost: remote\r\nContent-Length: 0\r\n\r\n");
            assertEquals(204, client.receive().status());
            long fromNs = System.nanoTime();
            assertEquals(200, client.get("/answer?delay_us=600000000").status(), "ten minutes were asked for");
            assertTrue(System.nanoTime() - fromNs >= 1_000_000);
            client.send("POST /delay HTTP/1.1\r\nHost: remote\r\nContent-Length: 0\r\n\r\n");
            assertEquals(204, client.receive().status());
            long againNs = System.nanoTime();
            client.get("/answer?delay_us=20000");
            assertTrue(System.nanoTime() - againNs >= 20_000_000);
            assertEquals(400, Client.get(port, "/answer?at_most_us=1").status());
            assertEquals(405, client.get("/delay").status());
        }
    }

    /**
     * Delays are never early, and late by no more than a second. That is no claim about speed: only an implementation
     * that forgets its timers would fail here, not a busy machine.
     */
    @Test
    void delaysAreNeverEarlyAndTheLatenessToldIsWhatAClientSees() throws IOException, DataFormatException {
        List<Long> seenNs = new ArrayList<>();
        try (Client client = new Client(port)) {
            for (int delayUs : new int[] {0, 1, 50, 333, 1_000, 1_500, 20_000}) {
                for (int i = 0; i < 40; i++) {
                    long fromNs = System.nanoTime();
                    long lateNs = client.get("/answer?delay_us=" + delayUs).atNs() - fromNs - delayUs * 1_000L;
                    assertTrue(lateNs >= 0, delayUs + " us: early by ns " + -lateNs);
                    assertTrue(lateNs < 1_000_000_000, delayUs + " us: late by ns " + lateNs);
                    seenNs.add(lateNs);
                }
            }
        }
        Collections.sort(seenNs);
        JsonObject stats = Client.stats(port);
        JsonObject lateness = stats.getJsonObject("lateness");
        Histogram histogram = Histogram.decodeFromCompressedByteBuffer(
                ByteBuffer.wrap(Base64.getDecoder().decode(lateness.getString("histogram"))), 0);
        double medianUs = lateness.getJsonObject("percentiles_us").getDouble("50");
        double seenMedianUs = seenNs.get(seenNs.size() / 2) / 1e3;
        assertAll(
                () -> assertEquals(seenNs.size(), stats.getLong("answered")),
                () -> assertEquals(seenNs.size(), lateness.getLong("count")),
                () -> assertEquals(seenNs.size(), histogram.getTotalCount()),
                () -> assertEquals(histogram.getValueAtPercentile(50) / 1e3, medianUs),
                () -> assertEquals(histogram.getMaxValue() / 1e3, lateness.getDouble("max_us")),
                // The client's figure includes the way there and back, the server's the end of its own writing.
                () -> assertTrue(medianUs < seenMedianUs + 1_000, medianUs + " told, seen " + seenMedianUs),
                () -> assertTrue(seenMedianUs < medianUs + 50_000, medianUs + " told, seen " + seenMedianUs),
                () -> assertTrue(stats.getJsonObject("loop_lateness").getLong("count") > 1));
    }

    /** The delay begins with the last byte of the request, not with its first. */
    @Test
    void aBodyIsReadToItsEndFirst() throws IOException, InterruptedException {
        try (Client client = new Client(port)) {
            client.send("POST /answer?delay_us=50000 HTTP/1.1\r\nHost: remote\r\nContent-Length: 10\r\n\r\n12345");
            Thread.sleep(100);
            assertEquals(0, Client.stats(port).getLong("in_flight"));
            long fromNs = System.nanoTime();
            client.send("67890");
            Client.Answer answer = client.receive();
            assertEquals(200, answer.status());
            assertTrue(answer.atNs() - fromNs >= 50_000_000);
            assertEquals(200, client.get("/answer?delay_us=0").status(), "the connection is still of use");
        }
    }

    /** HTTP/1.1 requires it; a delay begins once the answer before it was given. */
    @Test
    void pipelinedRequestsAreAnsweredInTurn() throws IOException {
        try (Client client = new Client(port)) {
            String request = "GET /answer?delay_us=40000&size_bytes=%d HTTP/1.1\r\nHost: remote\r\n\r\n";
            long fromNs = System.nanoTime();
            client.send(request.formatted(20) + request.formatted(30) + request.formatted(40));
            for (int i = 1; i <= 3; i++) {
                Client.Answer answer = client.receive();
                assertEquals(10 + 10 * i, answer.body().length());
                assertTrue(answer.atNs() - fromNs >= i * 40_000_000L);
            }
            assertEquals(1, Client.stats(port).getLong("in_flight_peak"));
        }
    }

    @Test
    void bodiesAreJsonOfTheLengthAskedFor() throws IOException {
        try (Client client = new Client(port)) {
            for (int size : new int[] {0, 1, 9, 10, 11, 64, 5_000, Order.MAX_SIZE_BYTES, 64, Order.MAX_SIZE_BYTES, 5_000}) {
                Client.Answer answer = client.get("/answer?delay_us=10&size_bytes=" + size);
                assertEquals(size, answer.body().length());
                assertTrue(answer.head().contains("application/json"));
                if (size > 0 && size < 10_000) {
                    assertNotNull(Json.decodeValue(answer.body()));
                }
            }
        }
    }

    @Test
    void faults() throws IOException, InterruptedException {
        try (Client client = new Client(port)) {
            long fromNs = System.nanoTime();
            Client.Answer answer = client.get("/answer?delay_us=20000&fault=status-500");
            assertEquals(500, answer.status());
            assertTrue(answer.atNs() - fromNs >= 20_000_000);
            long closeFromNs = System.nanoTime();
            assertThrows(EOFException.class, () -> client.get("/answer?delay_us=20000&fault=close"));
            assertTrue(System.nanoTime() - closeFromNs >= 20_000_000);
        }
        try (Client client = new Client(port)) {
            client.timeoutMs(200);
            assertThrows(SocketTimeoutException.class, () -> client.get("/answer?delay_us=1000&fault=never"));
            assertEquals(1, Client.stats(port).getLong("in_flight"));
        }
        JsonObject stats = Client.statsWhen(port, now -> now.getLong("in_flight") == 0);
        assertEquals(new JsonObject().put("status-500", 1).put("close", 1).put("never", 1), stats.getJsonObject("faults"));
        assertEquals(0, stats.getLong("in_flight"));
        assertEquals(0, stats.getLong("answered"));
        assertEquals(1, stats.getLong("abandoned"));
        assertEquals(2, stats.getJsonObject("lateness").getLong("count"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "/answer | delay_us is missing; allowed: whole numbers from 0 to 600000000",
        "/answer?delay_us=1.5 | delay_us = 1.5; allowed: whole numbers from 0 to 600000000",
        "/answer?delay_us=-1 | delay_us = -1; allowed: whole numbers from 0 to 600000000",
        "/answer?delay_us=600000001 | delay_us = 600000001; allowed: whole numbers from 0 to 600000000",
        "/answer?delay_us=1&delay_us=2 | delay_us is given 2 times; allowed: once",
        "/answer?delay_us=1&size_bytes=10485761 | size_bytes = 10485761; allowed: whole numbers from 0 to 10485760",
        "/answer?delay_us=1&spread=wide | spread = wide; allowed: fixed, exponential, lognormal",
        "/answer?delay_us=1&spread=lognormal&sigma=NaN | sigma = NaN; allowed: numbers from 0.0 to 3.0",
        "/answer?delay_us=1&sigma=1 | sigma is given with spread = fixed; allowed: with spread = lognormal only",
        "/answer?delay_us=1&seed=1 | seed is given with spread = fixed; allowed: with spread = exponential, lognormal",
        "/answer?delay_us=1&spread=exponential&seed=x | seed = x; allowed: whole numbers from -9223372036854775808 "
                + "to 9223372036854775807",
        "/answer?delay_us=1&fault=often | fault = often; allowed: none, status-500, close, never",
        "/answer?delay_us=1&dely=2 | dely is unknown; allowed: delay_us, fault, seed, sigma, size_bytes, spread",
        "/stats?reset=yes | reset = yes; allowed: true, false",
    })
    void badInput(String target, String message) throws IOException {
        try (Client client = new Client(port)) {
            Client.Answer answer = client.get(target);
            assertEquals(400, answer.status());
            assertEquals(message + "\n", answer.body());
            assertEquals(200, client.get("/answer?delay_us=0").status(), "the connection is still of use");
        }
        assertEquals(1, Client.stats(port).getLong("refused"));
    }

    @Test
    void queriesThatCannotBeDecodedAndOtherPathsAndMethods() throws IOException {
        assertEquals(400, Client.get(port, "/answer?delay_us=%zz").status());
        assertEquals(404, Client.get(port, "/").status());
        try (Client client = new Client(port)) {
            client.send("PUT /answer?delay_us=1 HTTP/1.1\r\nHost: remote\r\nContent-Length: 0\r\n\r\n");
            Client.Answer answer = client.receive();
            assertEquals(405, answer.status());
            assertTrue(answer.head().toLowerCase().contains("allow: get, post"), answer.head());
        }
    }

    @Test
    void clientsThatLeaveLeaveNothingBehind() throws IOException, InterruptedException {
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            Client client = new Client(port);
            clients.add(client);
            client.send("GET /answer?delay_us=600000000 HTTP/1.1\r\nHost: remote\r\n\r\n");
        }
        assertEquals(50, Client.statsWhen(port, now -> now.getLong("in_flight") == 50).getLong("in_flight"));
        for (Client client : clients) {
            client.close();
        }
        JsonObject stats = Client.statsWhen(port, now -> now.getLong("in_flight") == 0);
        assertEquals(0, stats.getLong("in_flight"));
        assertEquals(50, stats.getLong("abandoned"));
        assertEquals(50, stats.getLong("in_flight_peak"));
        assertNull(stats.getJsonObject("lateness"));
    }

    @Test
    @Timeout(600)
    void anAnswerCountsInThePeriodInWhichItIsGiven() throws IOException {
        try (Client client = new Client(port)) {
            client.get("/answer?delay_us=0");
            client.send("GET /answer?delay_us=2000000 HTTP/1.1\r\nHost: remote\r\n\r\n");
            JsonObject first = new JsonObject();
            while (first.getLong("in_flight", 0L) == 0) {
                first = Client.stats(port);
            }
            first = new JsonObject(Client.get(port, "/stats?reset=true").body());
            client.receive();
            JsonObject second = Client.stats(port);
            assertEquals(1, first.getLong("answered"));
            assertEquals(1, second.getLong("answered"));
            assertEquals(1, second.getJsonObject("lateness").getLong("count"));
            assertEquals(1, second.getLong("in_flight_peak"));
            assertEquals(first.getLong("now_monotonic_ns"), second.getLong("since_monotonic_ns"));
            assertTrue(second.getLong("now_monotonic_ns") > second.getLong("since_monotonic_ns"));
            assertTrue(second.getDouble("cpu_s") >= 0);
        }
    }

    /** Two servers draw the same delays from their start. */
    @Test
    void drawsAreRepeatable() throws IOException, InterruptedException {
        String target = "/answer?delay_us=30000&spread=lognormal&sigma=1&seed=7";
        Order order = new Order(30_000_000, 64, Spread.LOGNORMAL, 1, 7, Fault.NONE);
        try (RemoteServer other = RemoteServer.start(0, 1)) {
            for (int n = 0; n < 8; n++) {
                for (int each : new int[] {port, other.port()}) {
                    long fromNs = System.nanoTime();
                    long tookNs = Client.get(each, target).atNs() - fromNs;
                    long drawnNs = Draws.delayNs(order, n);
                    assertTrue(tookNs >= drawnNs, "draw %d: %d ns, took %d".formatted(n, drawnNs, tookNs));
                    assertTrue(tookNs < drawnNs + 1_000_000_000L, "draw %d: %d, took %d".formatted(n, drawnNs, tookNs));
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void eventLoopsShareThePort(int threads) throws IOException, InterruptedException {
        Set<Long> before = eventLoops();
        try (RemoteServer several = RemoteServer.start(0, threads)) {
            List<Client> clients = new ArrayList<>();
            try {
                for (int i = 0; i < 12; i++) {
                    clients.add(new Client(several.port()));
                    assertEquals(200, clients.get(i).get("/answer?delay_us=10").status());
                }
                List<Long> loops = new ArrayList<>(eventLoops());
                loops.removeAll(before);
                assertEquals(threads, loops.size());
                // The first answer has loaded the classes.
                List<Long> beforeNs = cpuNs(loops);
                for (int i = 0; i < 1200; i++) {
                    assertEquals(200, clients.get(i % 12).get("/answer?delay_us=10").status());
                }
                List<Long> afterNs = cpuNs(loops);
                // A loop without connections has nothing to do but run its own timer.
                List<Long> usedNs = IntStream.range(0, threads).mapToObj(i -> afterNs.get(i) - beforeNs.get(i)).toList();
                assertTrue(Collections.min(usedNs) > Collections.max(usedNs) / 5, "CPU time of each: " + usedNs);
            } finally {
                for (Client client : clients) {
                    client.close();
                }
            }
            assertEquals(
                    1212, Client.statsWhen(several.port(), now -> now.getLong("answered") == 1212).getLong("answered"));
        }
    }

    private static List<Long> cpuNs(List<Long> threads) {
        return threads.stream().map(ManagementFactory.getThreadMXBean()::getThreadCpuTime).toList();
    }

    private static Set<Long> eventLoops() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("vert.x-eventloop-thread-"))
                .map(Thread::threadId)
                .collect(Collectors.toSet());
    }

    @Test
    void itListensOnLoopbackOnly() throws IOException {
        List<InetAddress> others = NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> !address.equals(InetAddress.getLoopbackAddress()))
                .toList();
        for (InetAddress address : others) {
            assertThrows(IOException.class, () -> new Socket(address, port).close(), address.toString());
        }
        // Another address of the loopback network, present on every Linux.
        assertThrows(ConnectException.class, () -> new Socket("127.0.0.2", port).close());
    }
}
