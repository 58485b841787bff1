package jdkmatrix.standalone;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BurnTest {
    private static JsonNode complete(String line) throws IOException {
        Run run = Run.here(line.split(" +"));
        assertEquals(0, run.status(), run.err());
        JsonNode json = run.json();
        assertEquals("complete", json.get("outcome").asText(), json.toString());
        assertTrue(json.get("problem").isNull());
        assertEquals(1, json.get("schema_version").asInt());
        assertEquals("burn", json.get("experiment").asText());
        return json;
    }

    private static void countsAddUp(JsonNode seen) {
        long submitted = seen.get("submitted").asLong();
        assertEquals(
                submitted,
                seen.get("completed").asLong() + seen.get("completed_late").asLong() + seen.get("unfinished").asLong());
        assertEquals(seen.get("due").asLong(), seen.get("latency_to_end").get("count").asLong());
        // Where the kernel counts CPU time in ticks of 10 ms, a little work may count as none.
        assertTrue(seen.get("cpu_s").asDouble() >= 0);
        // The kernel counts CPU time and the clock separately, so that a little more than all of it may show.
        assertTrue(seen.get("cpu_share").asDouble() < 1.2, seen.toString());
    }

    /** Little's law: tasks in flight are throughput times the time each takes, and never more than asked for. */
    @ParameterizedTest
    @ValueSource(strings = {"virtual", "platform", "cached", "fixed:2", "fjp-fifo:2", "fjp-lifo:2", "work-stealing:2"})
    void aClosedLoopKeepsItsNumberInFlight(String executor) throws IOException {
        JsonNode json = complete("burn --executor " + executor
                + " --burn-rounds 20000 --rounds-per-us 1000 --in-flight 3 --duration-s 0.5 --warmup-s 0.2 --parks off");
        JsonNode seen = json.get("seen");
        countsAddUp(seen);
        assertEquals(0, seen.get("unfinished").asLong());
        assertTrue(seen.get("completed").asLong() > 0);
        assertTrue(seen.get("cpu_s").asDouble() > 0, "half a second of work");
        double inFlight = seen.get("throughput_per_s").asDouble()
                * seen.get("latency_to_end").get("mean_us").asDouble() / 1e6;
        assertTrue(inFlight > 0 && inFlight < 3.2, "in flight: " + inFlight);
        assertTrue(seen.get("tasks_queued_max").asInt() <= 3);
        assertTrue(seen.get("submitter_lateness").isNull());
        assertEquals("off", seen.get("parks").get("probe").asText());
    }

    @Test
    void anOpenLoopSubmitsWhatIsDue() throws IOException {
        JsonNode json = complete("burn --executor fixed:1 --burn-us 20 --calibrate-s 0.3 --rate-rps 200 --duration-s 0.5 "
                + "--warmup-s 0.1 --drain-s 5 --parks off");
        JsonNode seen = json.get("seen");
        countsAddUp(seen);
        assertEquals(100, seen.get("due").asLong());
        assertTrue(seen.get("submitted").asLong() > 0);
        assertTrue(seen.get("calibration_spread").asDouble() >= 0);
        assertEquals(20, seen.get("burn_us").asDouble(), 0.1);
        assertEquals(200, json.get("expected").get("value").asDouble());
        assertEquals(
                seen.get("submitted").asLong(), seen.get("submitter_lateness").get("count").asLong());
    }

    /** One worker cannot keep up: latency from the intended moment grows to the length of the backlog. */
    @Test
    void overloadShowsInTheLatencyAndNotInTheRate() throws IOException {
        JsonNode json = complete("burn --executor fixed:1 --burn-us 20000 --calibrate-s 0.3 --rate-rps 200 --duration-s 1 "
                + "--warmup-s 0 --drain-s 0.1 --parks off");
        JsonNode seen = json.get("seen");
        countsAddUp(seen);
        assertTrue(seen.get("throughput_per_s").asDouble() < 110, seen.toString());
        assertTrue(seen.get("unfinished").asLong() > 0);
        assertTrue(seen.get("lower_bounds").asLong() >= seen.get("unfinished").asLong());
        assertTrue(seen.get("latency_to_end").get("max_us").asDouble() > 500_000, seen.toString());
        assertTrue(seen.get("tasks_queued_max").asInt() > 50, seen.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"virtual", "fixed:2", "fjp-fifo:2"})
    void parksAreSeenAndFitIntoTheTime(String executor) throws IOException {
        JsonNode json = complete("burn --executor " + executor
                + " --burn-rounds 20000 --rounds-per-us 1000 --rate-rps 200 --duration-s 1 --warmup-s 0.3");
        JsonNode seen = json.get("seen");
        JsonNode parks = seen.get("parks");
        assertEquals("on", parks.get("probe").asText(), parks.toString());
        int workers = parks.get("workers_parked").asInt();
        assertTrue(workers > 0, parks.toString());
        double parkedS = parks.get("parked_s").asDouble();
        double durationS = seen.get("duration_s").asDouble();
        // 200 tasks of about 20 us: workers have hardly anything to do.
        assertTrue(parkedS > 0.3 * durationS && parkedS < 1.01 * workers * durationS, parks.toString());
        JsonNode whileQueued = parks.get("parked_while_queued");
        double totalS = whileQueued.get("total_s").asDouble();
        double idleS = whileQueued.get("idle_worker_s").asDouble();
        assertTrue(totalS <= parkedS + 1e-9, parks.toString());
        assertTrue(idleS <= totalS + 1e-9, parks.toString());
        if (!whileQueued.get("longest").isNull()) {
            assertTrue(whileQueued.get("longest").get("tasks_queued").asInt() >= 1);
        }
        assertTrue(parks.get("clock").get("anchors").asInt() >= 3, parks.toString());
        assertEquals(0, parks.get("lost_bytes").asLong());
    }

    /** A parked worker is woken by the task queued for it: an overlap, which a wrong clock would hide or invent. */
    @Test
    void theRecordersClockIsMappedToAFractionOfAMillisecond() throws IOException {
        JsonNode parks = complete("burn --executor fixed:1 --burn-rounds 1000 --rounds-per-us 1000 --rate-rps 50 --duration-s 1 "
                        + "--warmup-s 0.3")
                .get("seen")
                .get("parks");
        JsonNode clock = parks.get("clock");
        assertTrue(clock.get("residual_us").asDouble() < 200, parks.toString());
        assertTrue(parks.get("parked_while_queued").get("count").asLong() > 0, parks.toString());
    }

    @Test
    void threadsOfOneTaskHaveNoParksToReport() throws IOException {
        JsonNode parks = complete("burn --executor platform --burn-rounds 1000 --rounds-per-us 1000 --in-flight 1 --duration-s 0.2 "
                        + "--warmup-s 0")
                .get("seen")
                .get("parks");
        assertEquals("unavailable", parks.get("probe").asText());
        assertFalse(parks.get("reason").asText().isEmpty());
    }
}
