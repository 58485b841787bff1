package jdkmatrix.standalone;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A host's refusal is a result. The tests run in processes of their own, with limits of their own. */
class LimitsTest {
    @Test
    void refusedOpenFilesAreAnOutcome() throws IOException, InterruptedException {
        try (SlowServer server = SlowServer.start(1_000, 200)) {
            Run run = Run.inProcess(
                    "ulimit -n 120",
                    List.of(),
                    "fanout", "--url", server.url(), "--requests", "400", "--delay-ms", "1000", "--how", "virtual");
            assertEquals(0, run.status(), run.err());
            JsonNode json = run.json();
            assertEquals("files-refused", json.get("outcome").asText(), json.toString());
            long atCount = json.get("problem").get("at_count").asLong();
            assertTrue(atCount > 0 && atCount < 400, json.toString());
            assertTrue(json.get("problem").get("advice").asText().contains("ulimit -n"));
            JsonNode seen = json.get("seen");
            assertEquals(120, seen.get("open_files_soft_limit").asLong());
            assertTrue(seen.get("errors").get("too-many-open-files").asLong() > 0, json.toString());
            assertEquals(400, seen.get("ok").asLong() + seen.get("failed").asLong());
        }
    }

    @Test
    void refusedThreadsAreAnOutcomeAndEndAll() throws IOException, InterruptedException {
        Run run = withRoomForFewThreads(
                "spawn", "--kind", "platform", "--count", "2000", "--task", "sleep:600", "--release-early");
        assertEquals(0, run.status(), run.err());
        JsonNode json = run.json();
        assertEquals("threads-refused", json.get("outcome").asText(), json.toString());
        long atCount = json.get("problem").get("at_count").asLong();
        assertTrue(atCount > 0 && atCount < 2000, json.toString());
        assertEquals(atCount, json.get("seen").get("started").asLong());
        assertEquals(atCount, json.get("seen").get("live").asLong());
    }

    /** Without a measurement there are no figures: a throughput of none would say that threads found no carrier. */
    @Test
    void threadsThatCannotAllBlockAreAnOutcomeWithoutFigures() throws IOException, InterruptedException {
        Run run = withRoomForFewThreads(
                "pinning", "--construct", "lock", "--kernel-threads", "2000", "--block-ms", "50", "--duration-s", "1",
                "--warmup-s", "1");
        assertEquals(0, run.status(), run.err());
        JsonNode json = run.json();
        assertEquals("threads-refused", json.get("outcome").asText(), json.toString());
        assertTrue(json.get("problem").get("at_count").asLong() < 2000, json.toString());
        assertTrue(json.get("seen").isNull() && json.get("measured_span").isNull(), json.toString());
    }

    @Test
    void threadsThatFillTheHeapAreAnOutcome() throws IOException, InterruptedException {
        Run run = Run.inProcess(
                "",
                List.of("-Xmx32m", "-XX:+UseSerialGC"),
                "spawn", "--kind", "virtual", "--count", "1000000", "--task", "sleep:600", "--release-early");
        assertEquals(0, run.status(), run.err());
        JsonNode json = run.json();
        assertEquals("out-of-memory", json.get("outcome").asText(), json.toString());
        long atCount = json.get("problem").get("at_count").asLong();
        assertTrue(atCount > 0 && atCount < 1_000_000, json.toString());
        assertEquals(atCount, json.get("seen").get("started").asLong());
    }

    /** The list of threads alone is larger than the heap. Without a measurement there is no measured span. */
    @Test
    void aFullHeapIsAnOutcome() throws IOException, InterruptedException {
        Run run = Run.inProcess(
                "",
                List.of("-Xmx32m", "-XX:+UseSerialGC"),
                "spawn", "--kind", "virtual", "--count", "10000000", "--task", "sleep:600", "--release-early");
        assertEquals(0, run.status(), run.err());
        assertEquals("out-of-memory", run.json().get("outcome").asText(), run.out());
        assertTrue(run.json().get("seen").isNull());
        assertTrue(run.json().get("measured_span").isNull(), run.out());
    }

    /**
     * Runs with address space for some large-stack threads, and no more. A process limit is no help: root has none.
     */
    private static Run withRoomForFewThreads(String... arguments) throws IOException, InterruptedException {
        return Run.inProcess(
                "export MALLOC_ARENA_MAX=1 && ulimit -v 6000000",
                List.of(
                        "-Xmx128m",
                        "-Xss128m",
                        "-XX:+UseSerialGC",
                        "-XX:CompressedClassSpaceSize=32m",
                        "-XX:ReservedCodeCacheSize=32m"),
                arguments);
    }
}
