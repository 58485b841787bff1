package jdkmatrix.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Uses cases that the runner's tests read too: both sides accept and refuse the same. */
class RequestFileTest {
    private static Stream<JsonNode> cases(String kind) throws IOException {
        try (InputStream in = RequestFileTest.class.getResourceAsStream("/request-mixes.json")) {
            return new ObjectMapper().readTree(in).get(kind).valueStream();
        }
    }

    static Stream<JsonNode> accepted() throws IOException {
        return cases("accepted");
    }

    static Stream<JsonNode> refused() throws IOException {
        return cases("refused");
    }

    @ParameterizedTest
    @MethodSource("accepted")
    void isAccepted(JsonNode file) {
        RequestMix mix = RequestFile.parse(file.toString()).toMix("host:1");
        assertEquals(file.get("requests").size(), mix.templates().size());
    }

    @ParameterizedTest
    @MethodSource("refused")
    void isRefused(JsonNode refused) {
        String text = refused.get("file").toString();
        String message = assertThrows(IllegalArgumentException.class, () -> RequestFile.parse(text)).getMessage();
        assertTrue(message.contains(refused.get("because").textValue()), message);
        assertFalse(message.contains("\n"), message);
    }

    @Test
    void aLongRequestIsRefused() {
        String file = "{\"seed\": 1, \"requests\": [{\"method\": \"POST\", \"path\": \"/\", \"body\": \"%s\"}]}";
        int others = RequestFile.parse(file.formatted("")).toMix("").longest();
        String longest = "x".repeat(RequestFile.MAX_BYTES - others - 4); // the length of the body has 5 digits
        assertEquals(RequestFile.MAX_BYTES, RequestFile.parse(file.formatted(longest)).toMix("").longest());
        assertThrows(IllegalArgumentException.class, () -> RequestFile.parse(file.formatted(longest + "x")));
    }

    @Test
    void encodesARequest() {
        RequestMix mix = RequestFile.parse(
                        """
                        {"seed": 1, "requests": [{"method": "POST", "path": "/o/{unique:4}?r={random:7:12}",
                         "headers": {"Content-Type": "text/plain", "X-Id": "<{unique:3}>"}, "body": "é{random:1:9}"}]}
                        """)
                .toMix("host:1");
        Template template = mix.templates().getFirst();
        assertEquals(
                "POST /o/0000?r=00 HTTP/1.1\r\nHost: host:1\r\nContent-Type: text/plain\r\nX-Id: <000>\r\n"
                        + "Content-Length: 3\r\n\r\né0",
                new String(template.bytes(), StandardCharsets.UTF_8));
        assertEquals(999, template.lastUnique());
        assertEquals(
                List.of(
                        new Template.Field(8, 4, true, 0, 0),
                        new Template.Field(15, 2, false, 7, 12),
                        new Template.Field(75, 3, true, 0, 0),
                        new Template.Field(template.length() - 1, 1, false, 1, 9)),
                template.fields());
    }

    @Test
    void contentLengthStandsWhereTheMethodMeansIt() {
        String file = "{\"seed\": 1, \"requests\": [{\"method\": \"%s\", \"path\": \"/\"}]}";
        for (String method : List.of("GET", "DELETE", "OPTIONS", "POST", "PUT", "PATCH")) {
            byte[] bytes = RequestFile.parse(file.formatted(method)).toMix("h").templates().getFirst().bytes();
            assertEquals(
                    method.startsWith("P"), new String(bytes, StandardCharsets.US_ASCII).contains("Content-Length: 0\r\n"));
        }
    }
}
