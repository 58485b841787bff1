package jdkmatrix.pinning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import jdkmatrix.serverprobes.Problem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EndpointsTest {
    private final Endpoints endpoints = new Endpoints();

    @AfterEach
    void forgetTheInterrupt() {
        Thread.interrupted();
    }

    private String get(String path, Map<String, String> parameters) {
        return endpoints.answer("GET", path, parameters::get);
    }

    private static Map<String, String> block(String construct, String blockMs) {
        Map<String, String> parameters = new HashMap<>();
        parameters.put("construct", construct);
        parameters.put("block_ms", blockMs);
        return parameters;
    }

    @Test
    void anAnswerIsAConstant() {
        assertEquals("blocked", get("/block", block("none", "0")));
        assertEquals("blocked", get("/block", block("synchronized", "1")));
        assertEquals("ready", get("/ready", Map.of()));
    }

    @Test
    void aLimitHoldsUntilItIsLifted() {
        assertEquals("at most 5 ms", endpoints.answer("POST", "/limit", Map.of("at_most_ms", "5")::get));
        assertEquals("blocked", get("/block", block("lock", "600000")));
        assertEquals("at most 600000 ms", endpoints.answer("POST", "/limit", Map.<String, String>of()::get));
        Thread.currentThread().interrupt();
        Problem problem = assertThrows(Problem.class, () -> get("/block", block("lock", "600000")));
        assertEquals(503, problem.status());
        assertTrue(Thread.currentThread().isInterrupted());
    }

    @ParameterizedTest
    @CsvSource({
        "none,,'block_ms: expected a whole number from 0 to 600000, found nothing'",
        "none,-1,'block_ms: expected a whole number from 0 to 600000, found -1'",
        "none,600001,'block_ms: expected a whole number from 0 to 600000, found 600001'",
        "none,1s,'block_ms: expected a whole number from 0 to 600000, found 1s'",
        "monitor,1,'construct: expected one of none, synchronized, lock, object-wait, found \"monitor\"'",
    })
    void aBadParameterIsTold(String construct, String blockMs, String line) {
        Problem problem = assertThrows(Problem.class, () -> get("/block", block(construct, blockMs)));
        assertEquals(400, problem.status());
        assertEquals(line, problem.getMessage());
    }

    @ParameterizedTest
    @CsvSource({"GET,/", "GET,/limit", "POST,/block", "PUT,/limit", "GET,null"})
    void nothingElseIsHere(String method, String path) {
        Problem problem = assertThrows(Problem.class, () -> endpoints.answer(method, path, Map.<String, String>of()::get));
        assertEquals(404, problem.status());
    }

    @Test
    void aLimitMustBeANumber() {
        Problem problem = assertThrows(
                Problem.class, () -> endpoints.answer("POST", "/limit", Map.of("at_most_ms", "x")::get));
        assertEquals(400, problem.status());
    }
}
