package jdkmatrix.standalone;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RoundsTest {
    private static JsonNode json(String executor, String buffers) throws IOException {
        String line = "json --executor %s --tasks 50 --buffers %s --duration-s 0.5 --warmup-s 0.5";
        Run run = Run.here(line.formatted(executor, buffers).split(" "));
        assertEquals(0, run.status(), run.err());
        JsonNode json = run.json();
        assertEquals("complete", json.get("outcome").asText(), run.out());
        assertEquals(buffers, json.get("asked").get("operation").get("buffers").asText());
        return json.get("seen");
    }

    private static Set<String> names(JsonNode object) {
        Set<String> names = new TreeSet<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    @ParameterizedTest
    @ValueSource(strings = {"virtual", "platform", "cached", "fixed:2", "virtual-bounded:2", "work-stealing:2", "fjp-fifo:2"})
    void everyTaskOfARoundIsDone(String executor) throws IOException {
        JsonNode seen = json(executor, "thread-local");
        long operations = seen.get("operations").asLong();
        long rounds = seen.get("rounds").asLong();
        // Some tasks of the first round were done before the time began, and some of the last found it over; and the
        // two counts are not read at the same moment.
        assertTrue(Math.abs(operations - 50 * (rounds - 1)) <= 50 + operations / 50, seen.toString());
        assertTrue(seen.get("throughput_per_s").asDouble() > 0, seen.toString());
        assertTrue(seen.get("cpu_us_per_operation").asDouble() > 0, seen.toString());
    }

    /** No more tasks than the pool has threads can be ready before the first borrow. */
    @Test
    void aPoolWithFewerThreadsThanTasksBorrows() throws IOException {
        String line = "borrow --executor fixed:2 --tasks 5 --connections 1 --duration-s 0.2 --warmup-s 0.2";
        Run run = Run.here(line.split(" "));
        assertEquals("complete", run.json().get("outcome").asText(), run.out());
        assertTrue(run.json().get("seen").get("operations").asLong() > 0, run.out());
    }

    /** Jackson's buffers take some KiB, and an object and its thread far less. */
    @Test
    void aThreadThatLivesForOneTaskFindsNothingInItsThreadLocal() throws IOException {
        double kept = json("fixed:2", "thread-local").get("allocated_bytes_per_operation").asDouble();
        double lost = json("virtual", "thread-local").get("allocated_bytes_per_operation").asDouble();
        double each = json("fixed:2", "new").get("allocated_bytes_per_operation").asDouble();
        double shared = json("virtual", "shared").get("allocated_bytes_per_operation").asDouble();
        JsonNode ofVertx = json("virtual", "striped");
        double striped = ofVertx.get("allocated_bytes_per_operation").asDouble();
        assertEquals(Set.of("Jackson", "Vert.x"), names(ofVertx.get("about")));
        String all = "%s, %s, %s, %s, %s".formatted(kept, lost, each, shared, striped);
        assertTrue(lost >= 2 * kept && each >= 2 * kept && lost >= 2 * shared && lost >= 2 * striped, all);
    }
}
