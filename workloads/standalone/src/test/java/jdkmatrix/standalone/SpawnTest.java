package jdkmatrix.standalone;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SpawnTest {
    private static JsonNode seen(String line) throws IOException {
        return seen(Run.here(line.split(" +")));
    }

    /** Runs in a process that has had hardly any threads, since the C library keeps the stacks of some that ended. */
    private static JsonNode seenInProcess(String line) throws IOException, InterruptedException {
        return seen(Run.inProcess("", List.of("-Xss1m"), line.split(" +")));
    }

    private static JsonNode seen(Run run) throws IOException {
        assertEquals(0, run.status(), run.err());
        assertEquals("complete", run.json().get("outcome").asText(), run.out());
        return run.json().get("seen");
    }

    @Test
    void everyPlatformThreadIsAThreadOfTheKernel() throws IOException, InterruptedException {
        JsonNode seen = seenInProcess("spawn --kind platform --count 50 --task sleep:0.3");
        assertEquals(50, seen.get("started").asInt());
        assertEquals(50, seen.get("live").asInt());
        // The JVM's own threads may come and go.
        assertEquals(1, seen.get("per_thread").get("native_threads").asDouble(), 0.2);
        assertTrue(seen.get("per_thread").get("virt_bytes").asDouble() >= 0.5 * seen.get("thread_stack_bytes").asDouble());
        assertTrue(seen.get("done_s").asDouble() >= 0.3);
    }

    @Test
    void virtualThreadsShareThoseOfTheKernel() throws IOException {
        JsonNode seen = seen("spawn --kind virtual --count 500 --task sleep:0.3");
        assertEquals(500, seen.get("started").asInt());
        assertTrue(seen.get("per_thread").get("native_threads").asDouble() < 0.1, seen.toString());
        assertTrue(seen.get("running_s").asDouble() <= seen.get("done_s").asDouble());
        assertTrue(seen.get("done_s").asDouble() >= 0.3);
        assertTrue(seen.get("while_live").get("rss_bytes").asLong() <= seen.get("while_live").get("virt_bytes").asLong());
    }

    @Test
    void aVirtualThreadTakesLessMemory() throws IOException, InterruptedException {
        JsonNode platform = seenInProcess("spawn --kind platform --count 1000 --task sleep:600 --release-early");
        JsonNode virtual = seenInProcess("spawn --kind virtual --count 1000 --task sleep:600 --release-early");
        assertTrue(
                virtual.get("per_thread").get("rss_bytes").asDouble()
                        < platform.get("per_thread").get("rss_bytes").asDouble(),
                virtual + " " + platform);
        assertTrue(
                virtual.get("per_thread").get("virt_bytes").asDouble() < 0.1 * virtual.get("thread_stack_bytes").asDouble(),
                virtual.toString());
    }

    @Test
    void aLongSleepCanBeCutShort() throws IOException {
        JsonNode seen = seen("spawn --kind virtual --count 20 --task sleep:600 --release-early");
        assertEquals(20, seen.get("live").asInt());
        assertTrue(seen.get("done_s").isNull());
    }

    @Test
    void everyThreadPrintsItsLine(@TempDir Path folder) throws IOException {
        Path lines = folder.resolve("lines");
        JsonNode seen = seen("spawn --kind platform --count 30 --task print --sink " + lines);
        assertEquals(30, Files.readAllLines(lines).stream().distinct().count());
        assertTrue(seen.get("started_s").asDouble() > 0);
        assertTrue(seen.get("while_live").isNull());
        assertTrue(seen.get("peak").get("rss_bytes").asLong() > 0);
    }

    /** Runs as in a program that does nothing else: what it prints comes before the result. */
    @ParameterizedTest
    @ValueSource(strings = {"virtual", "platform"})
    void aColdStartPrintsToStandardOutput(String kind) throws IOException, InterruptedException {
        String line = "spawn --kind %s --count 30 --task print --sink stdout --cold".formatted(kind);
        Run run = Run.inProcess("", List.of(), line.split(" +"));
        JsonNode seen = seen(run);
        assertTrue(run.json().get("asked").get("cold").asBoolean(), run.out());
        List<String> lines = run.out().lines().toList();
        assertEquals(31, lines.size());
        assertEquals(30, lines.stream().limit(30).filter(text -> text.matches("thread \\d+")).distinct().count());
        assertTrue(seen.get("started_s").asDouble() > 0);
    }

    @Test
    void whatAThreadCostsIsNotToldOfAColdStart() {
        Run run = Run.here("spawn --kind virtual --count 3 --task sleep:1 --cold".split(" "));
        assertEquals(2, run.status());
        assertTrue(run.err().contains("--cold is for --task print and burn"), run.err());
    }

    @Test
    void theSameWorkIsDoneByEither() throws IOException {
        for (String kind : List.of("virtual", "platform")) {
            Run run = Run.here("spawn", "--kind", kind, "--count", "20", "--task", "burn:2000000");
            JsonNode json = run.json();
            // Not before the work can be done; how much later is not a question of correctness.
            double leastS = json.get("expected").get("value").asDouble();
            assertTrue(json.get("seen").get("done_s").asDouble() > 0.5 * leastS, json.toString());
        }
    }
}
