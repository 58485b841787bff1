package jdkmatrix.standalone;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HangTest {
    private static final boolean PINS = Runtime.version().feature() < 24;

    /** Runs on two carriers. */
    @ParameterizedTest
    @CsvSource({
        "virtual,3,synchronized,true",
        "virtual,2,synchronized,false",
        "virtual,3,lock,false",
        "platform,3,synchronized,false"
    })
    void threadsHangWhereAllCarriersAreKept(String kind, int count, String inside, boolean keepsAll)
            throws IOException, InterruptedException {
        Run run = Run.inProcess(
                "",
                List.of("-Djdk.virtualThreadScheduler.parallelism=2"),
                "hang", "--kind", kind, "--count", "" + count, "--inside", inside);
        assertEquals(0, run.status(), run.err());
        JsonNode json = run.json();
        JsonNode seen = json.get("seen");
        boolean hangs = keepsAll && PINS;
        assertEquals(hangs ? "hung" : "complete", json.get("outcome").asText(), run.out());
        assertEquals(hangs ? 0 : count, seen.get("went_on").asInt(), run.out());
        assertEquals(json.get("expected").get("value").asDouble(), seen.get("went_on_share").asDouble());
        assertEquals(hangs, seen.get("until_all_ms").isNull());
        assertEquals(hangs, run.err().contains("they hang:"), run.err());
        if (hangs) {
            JsonNode hung = seen.get("hung");
            assertTrue(hung.get("lock_free").asBoolean(), run.out());
            assertEquals(count, hung.get("waiting").asInt(), run.out());
            assertEquals(count - 1, hung.get("went_on_after_interrupt").asInt(), "one carrier is all that they lacked");
            assertTrue(hung.get("stacks").get(0).get("frames").toString().contains("hang.Contest.turn"), run.out());
            assertTrue(run.err().contains("hang.Contest.turn"), "the dump has virtual threads");
        }
    }
}
