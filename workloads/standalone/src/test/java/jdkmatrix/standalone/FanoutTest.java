package jdkmatrix.standalone;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FanoutTest {
    private static final int DELAY_MS = 200;

    private static Run fanout(String url, int requests, String how) {
        return Run.here(
                "fanout", "--url", url, "--requests", "" + requests, "--delay-ms", "" + DELAY_MS, "--how", how);
    }

    @ParameterizedTest
    @CsvSource({"platform,1", "virtual,1", "fixed:5,4", "virtual-bounded:5,4"})
    void nothingIsFasterThanTheServerAllows(String how, int rounds) throws IOException {
        try (SlowServer server = SlowServer.start(DELAY_MS, 200)) {
            Run run = fanout(server.url(), 20, how);
            assertEquals(0, run.status(), run.err());
            JsonNode json = run.json();
            assertEquals("complete", json.get("outcome").asText(), json.toString());
            JsonNode seen = json.get("seen");
            assertEquals(20, seen.get("ok").asLong(), json.toString());
            assertEquals(0, seen.get("failed").asLong());
            assertEquals(rounds * DELAY_MS / 1e3, seen.get("ideal_s").asDouble(), 1e-9);
            assertEquals(json.get("expected").get("value").asDouble(), seen.get("ideal_s").asDouble());
            assertTrue(seen.get("wall_s").asDouble() >= seen.get("ideal_s").asDouble(), json.toString());
            // The lower edge of a bucket, which has three significant digits.
            assertTrue(seen.get("latency").get("min_us").asDouble() >= 0.999 * 1e3 * DELAY_MS, json.toString());
            assertTrue(seen.get("in_flight_most").asLong() <= (rounds == 1 ? 20 : 5), json.toString());
            assertTrue(seen.get("open_files_peak").asInt() > seen.get("open_files_before").asInt(), json.toString());
        }
    }

    @Test
    void ofDelaysThatDifferTheMeanIsABound() throws IOException {
        try (SlowServer server = SlowServer.start(1, 200)) {
            String line = "fanout --url %s --requests 4 --delay-ms 1 --delay-is-mean --how fixed:2".formatted(server.url());
            JsonNode expected = Run.here(line.split(" ")).json().get("expected");
            assertEquals(0.002, expected.get("value").asDouble(), 1e-9);
            assertTrue(expected.get("source").asText().startsWith("of the mean of the delays"), expected.toString());
        }
    }

    @Test
    void anAnswerThatIsNoneCountsByItsStatus() throws IOException {
        try (SlowServer server = SlowServer.start(1, 503)) {
            JsonNode json = fanout(server.url(), 3, "virtual").json();
            assertEquals("requests-failed", json.get("outcome").asText());
            assertTrue(json.get("problem").get("at_count").isNull(), "how many failed is no point that it came to");
            JsonNode seen = json.get("seen");
            assertEquals(3, seen.get("errors").get("status-503").asLong(), seen.toString());
            assertEquals(0, seen.get("ok").asLong());
        }
    }

    @Test
    void aServerThatIsNotThereIsSaid() throws IOException {
        int port;
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = taken.getLocalPort();
        }
        JsonNode seen = fanout("http://127.0.0.1:" + port + "/", 4, "fixed:2").json().get("seen");
        assertEquals(4, seen.get("errors").get("refused").asLong(), seen.toString());
    }

    @Test
    void structuredConcurrencyNeedsItsFlagWhileItIsAPreview() throws IOException, InterruptedException {
        try (SlowServer server = SlowServer.start(DELAY_MS, 200)) {
            JsonNode without = fanout(server.url(), 3, "structured").json();
            if (Runtime.version().feature() < 28) {
                assertEquals("not-on-this-jdk", without.get("outcome").asText());
                assertTrue(without.get("problem").get("advice").asText().contains("--enable-preview"));
            }
            Run with = Run.inProcess(
                    "",
                    List.of("--enable-preview"),
                    "fanout", "--url", server.url(), "--requests", "20", "--delay-ms", "" + DELAY_MS, "--how", "structured");
            assertEquals(0, with.status(), with.err());
            assertEquals("complete", with.json().get("outcome").asText(), with.out());
            assertEquals(20, with.json().get("seen").get("ok").asLong(), with.out());
        }
    }
}
