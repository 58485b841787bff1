package jdkmatrix.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ComposerTest {
    private static final String THREE =
            """
            {"seed": 7, "requests": [
              {"method": "GET", "path": "/plain", "weight": 5},
              {"method": "GET", "path": "/random/{random:95:105}", "weight": 3},
              {"method": "POST", "path": "/unique/{unique:5}", "body": "{\\"id\\": {unique:6}}", "weight": 2}]}
            """;

    private static RequestMix mix(String file) {
        return RequestFile.parse(file).toMix("h");
    }

    private static String next(Composer composer, Connection connection) {
        assertTrue(composer.compose(connection), composer::exhausted);
        return connection.request.toString(StandardCharsets.UTF_8);
    }

    private static List<String> sent(RequestMix mix, int index, int loops, int count) {
        Composer composer = new Composer(mix, index, loops);
        Connection[] connections = {new Connection(0, composer.newBuffer()), new Connection(1, composer.newBuffer())};
        List<String> sent = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            sent.add(next(composer, connections[i % connections.length]));
        }
        return sent;
    }

    @Test
    void everyRequestIsWholeAndTheMixIsKept() {
        int count = 20_000;
        Map<String, Integer> seen = new HashMap<>();
        Map<String, Integer> drawn = new HashMap<>();
        for (String request : sent(mix(THREE), 0, 1, count)) {
            String kind = request.split("[/ ]")[2];
            seen.merge(kind, 1, Integer::sum);
            if (kind.equals("random")) {
                assertTrue(request.matches("GET /random/(09[5-9]|10[0-5]) HTTP/1.1\r\nHost: h\r\n\r\n"), request);
                drawn.merge(request.substring(12, 15), 1, Integer::sum);
            } else if (kind.equals("unique")) {
                String number = request.substring(13, 18);
                assertEquals(
                        "POST /unique/%s HTTP/1.1\r\nHost: h\r\nContent-Length: 14\r\n\r\n{\"id\": 0%s}"
                                .formatted(number, number),
                        request);
            } else {
                assertEquals("GET /plain HTTP/1.1\r\nHost: h\r\n\r\n", request);
            }
        }
        // From a fixed seed, so nothing is left to chance. Six standard deviations are 0.02.
        assertEquals(0.5, seen.get("plain") / (double) count, 0.02);
        assertEquals(0.3, seen.get("random") / (double) count, 0.02);
        assertEquals(0.2, seen.get("unique") / (double) count, 0.02);
        assertEquals(11, drawn.size());
        drawn.values().forEach(times -> assertEquals(seen.get("random") / 11.0, times, 150));
    }

    @Test
    void numbersAreUniqueOverAllLoops() {
        Set<String> seen = new HashSet<>();
        int loops = 3;
        for (int index = 0; index < loops; index++) {
            for (String request : sent(mix(THREE), index, loops, 5_000)) {
                if (request.startsWith("POST")) {
                    assertTrue(seen.add(request.substring(13, 18)), request);
                }
            }
        }
        assertEquals(3_000, seen.size(), 200);
    }

    @Test
    void aSeedMakesTheSameRequestsAndLoopsDiffer() {
        assertEquals(sent(mix(THREE), 1, 2, 100), sent(mix(THREE), 1, 2, 100));
        assertNotEquals(sent(mix(THREE), 0, 2, 100), sent(mix(THREE), 1, 2, 100));
        assertNotEquals(sent(mix(THREE), 0, 2, 100), sent(mix(THREE.replace("7", "8")), 0, 2, 100));
    }

    @Test
    void numbersThatAreUsedUpAreNotUsedAgain() {
        RequestMix mix =
                mix("{\"seed\": 1, \"requests\": [{\"method\": \"GET\", \"path\": \"/{unique:1}/{unique:2}\"}]}");
        Composer composer = new Composer(mix, 1, 3);
        Connection connection = new Connection(0, composer.newBuffer());
        for (int number : new int[] {1, 4, 7}) {
            assertTrue(next(composer, connection).startsWith("GET /%d/0%d HTTP".formatted(number, number)));
        }
        assertFalse(composer.compose(connection));
        assertFalse(composer.compose(connection));
        assertTrue(composer.exhausted().contains("the next is 10"), composer.exhausted());
    }
}
