package jdkmatrix.standalone;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PinningTest {
    private static final int BLOCK_MS = 50;
    private static final double DURATION_S = 1;

    /** Many for each carrier, so that pinned and unpinned are far apart on any host. */
    private static final int THREADS = 20 * Runtime.getRuntime().availableProcessors();

    private static JsonNode run(String construct, String threads) throws IOException {
        String line = "pinning --construct %s %s --block-ms %d --duration-s %s --warmup-s 0.3"
                .formatted(construct, threads, BLOCK_MS, DURATION_S);
        Run run = Run.here(line.split(" +"));
        assertEquals(0, run.status(), run.err());
        return run.json();
    }

    /** Checks for at least five times what pinned threads could do. */
    private static void isNotPinned(JsonNode seen) {
        double pinnedPerS = seen.get("carriers").get("parallelism").asInt() * 1e3 / BLOCK_MS;
        assertEquals(THREADS, seen.get("threads_served").asInt(), seen.toString());
        assertTrue(seen.get("throughput_per_s").asDouble() >= 5 * pinnedPerS, seen.toString());
        assertTrue(seen.get("throughput_per_s").asDouble() <= most(THREADS), seen.toString());
        assertEquals(0, seen.get("pinned").get("count").asLong(), seen.toString());
    }

    /** In the time of one call, no more calls can end than are under way at once; at the edges, one more each. */
    private static double most(double atOnce) {
        return atOnce * (1e3 / BLOCK_MS + 1 / DURATION_S);
    }

    @ParameterizedTest
    @ValueSource(strings = {"class-init", "native"})
    void aPinnedThreadKeepsItsCarrier(String construct) throws IOException {
        JsonNode json = run(construct, "--threads " + THREADS);
        if (construct.equals("native") && Runtime.version().feature() < 22) {
            assertEquals("not-on-this-jdk", json.get("outcome").asText());
            assertTrue(json.get("expected").get("value").asDouble() > 0);
            return;
        }
        assertEquals("complete", json.get("outcome").asText(), json.toString());
        JsonNode seen = json.get("seen");
        JsonNode carriers = seen.get("carriers");
        double atOnce = carriers.get("parallelism").asInt() + carriers.get("compensating").asInt();
        // Half of it, to allow for a host that has other work.
        assertTrue(
                seen.get("throughput_per_s").asDouble() >= 0.5 * json.get("expected").get("value").asDouble(), json.toString());
        assertTrue(seen.get("throughput_per_s").asDouble() <= most(atOnce), json.toString());
        JsonNode pinned = seen.get("pinned");
        assertEquals("on", pinned.get("probe").asText());
        assertTrue(pinned.get("count").asLong() > 0, json.toString());
        String frames = pinned.get("stacks").get(0).get("frames").toString();
        assertTrue(frames.contains("standalone.pinning.Blocking.sleep"), frames);
        // One place in the source, however many classes were made from it.
        assertEquals(1, pinned.get("stacks").size(), pinned.toString());
    }

    /** As many threads as there are carriers wait to enter: before JDK 24 the others find none and never run. */
    @Test
    void whoWaitsForAMonitorKeepsItsCarrierBeforeJdk24Only() throws IOException {
        JsonNode json = run("contended-monitor", "--threads " + THREADS);
        assertEquals("complete", json.get("outcome").asText(), json.toString());
        JsonNode seen = json.get("seen");
        if (Runtime.version().feature() >= 24) {
            isNotPinned(seen);
            return;
        }
        assertEquals(0, seen.get("operations").asLong(), seen.toString());
        assertEquals(0, seen.get("threads_served").asInt(), seen.toString());
        assertEquals(THREADS, seen.get("lower_bounds").asLong(), seen.toString());
    }

    @Test
    void platformThreadsWaitForAMonitorAndHoldNobodyUp() throws IOException {
        JsonNode seen = run("contended-monitor", "--kernel-threads 20").get("seen");
        assertEquals(20, seen.get("threads_served").asInt());
    }

    @ParameterizedTest
    @ValueSource(strings = {"lock", "contended-lock"})
    void whoHoldsALockOrWaitsForItLeavesItsCarrierToOthers(String construct) throws IOException {
        isNotPinned(run(construct, "--threads " + THREADS).get("seen"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"synchronized", "object-wait"})
    void aMonitorPinsBeforeJdk24Only(String construct) throws IOException {
        JsonNode seen = run(construct, "--threads " + THREADS).get("seen");
        if (Runtime.version().feature() >= 24) {
            isNotPinned(seen);
            assertEquals(0, seen.get("carriers").get("compensating").asInt(), seen.toString());
        } else if (construct.equals("synchronized")) {
            assertTrue(seen.get("pinned").get("count").asLong() > 0);
            assertTrue(
                    seen.get("throughput_per_s").asDouble() <= most(seen.get("carriers").get("most").asInt()), seen.toString());
        } else {
            assertTrue(seen.get("carriers").get("compensating").asInt() > 0, seen.toString());
        }
    }

    @Test
    void platformThreadsHaveNothingToPin() throws IOException {
        JsonNode seen = run("synchronized", "--kernel-threads 20").get("seen");
        assertEquals(20, seen.get("threads_served").asInt());
        assertTrue(seen.get("throughput_per_s").asDouble() <= most(20));
        // The shortest may be the lower bound of a call that had not begun at the end.
        JsonNode percentiles = seen.get("latency").get("percentiles_us");
        assertTrue(percentiles.get("50").asDouble() >= 1e3 * BLOCK_MS, seen.toString());
        assertTrue(seen.get("carriers").isNull());
        assertEquals("unavailable", seen.get("pinned").get("probe").asText());
    }
}
