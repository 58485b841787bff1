package jdkmatrix.standalone;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whoever watches the host looks at the time that the figures cover, and at no other. */
class MeasuredSpanTest {
    private static final double EXACT_S = 1e-6;

    /** Returns the length of the span in seconds, and checks that the whole run encloses it. */
    private static double spanS(String line) throws IOException {
        long beforeNs = System.nanoTime();
        Run run = Run.here(line.split(" +"));
        long afterNs = System.nanoTime();
        JsonNode span = run.json().get("measured_span");
        long startNs = span.get("start_monotonic_ns").asLong();
        long endNs = span.get("end_monotonic_ns").asLong();
        assertTrue(beforeNs < startNs && startNs < endNs && endNs < afterNs, run.out());
        return (endNs - startNs) / 1e9;
    }

    @ParameterizedTest
    @CsvSource({
        "burn --executor virtual --burn-rounds 1000 --rounds-per-us 1000 --in-flight 2 --warmup-s 0.4 --parks off,0.3",
        "pinning --construct lock --threads 4 --block-ms 10 --warmup-s 0.4,0.3",
    })
    void aTimeThatWasAskedForIsItWithoutItsWarmUp(String line, double durationS) throws IOException {
        assertEquals(durationS, spanS(line + " --duration-s " + durationS), EXACT_S);
    }

    @Test
    void requestsAreItFromTheFirstToTheLast() throws IOException {
        try (SlowServer server = SlowServer.start(100, 200)) {
            Run run = Run.here("fanout", "--url", server.url(), "--requests", "4", "--delay-ms", "100", "--how", "fixed:2");
            JsonNode json = run.json();
            double spanNs = json.get("measured_span").get("end_monotonic_ns").asDouble()
                    - json.get("measured_span").get("start_monotonic_ns").asDouble();
            assertEquals(json.get("seen").get("wall_s").asDouble(), spanNs / 1e9, EXACT_S);
        }
    }

    @Test
    void threadsAreItFromTheFirstStartUntilTheLastIsOver() throws IOException {
        assertTrue(spanS("spawn --kind virtual --count 20 --task sleep:0.3") >= 0.3);
    }
}
