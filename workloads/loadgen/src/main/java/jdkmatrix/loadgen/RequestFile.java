package jdkmatrix.loadgen;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.TextNode;
import com.fasterxml.jackson.databind.type.LogicalType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A mix of requests as a file: {"seed": 1, "requests": [{"method": "POST", "path": "/orders/{unique:8}", "headers":
 * {"Content-Type": "text/plain"}, "body": "{random:1:100}", "weight": 3}]}. Headers, body and weight may be left out;
 * the weight is then 1. Paths, header values and bodies may have fields: {unique:WIDTH} is a number that no other
 * request of the session has, {random:LOWEST:HIGHEST} is drawn, both with leading zeros.
 */
record RequestFile(Long seed, List<Item> requests) {
    static final int MAX_REQUESTS = 100;
    static final int MAX_WEIGHT = 1_000_000;
    static final int MAX_BYTES = 65_536;

    // Answers to HEAD cannot be told from others without the request; CONNECT and TRACE are no load.
    private static final Set<String> METHODS = Set.of("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS");
    // RFC 9110, 8.6: requests with these methods give the content length, even if there is no content.
    private static final Set<String> WITH_BODY = Set.of("POST", "PUT", "PATCH");
    private static final Set<String> OURS =
            Set.of("host", "content-length", "transfer-encoding", "connection", "expect", "upgrade", "te", "trailer");
    // RFC 3986: pchar, "/" and "?"; RFC 9110: token; its field values in ASCII.
    private static final Pattern PATH =
            Pattern.compile("/(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*");
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");
    private static final Pattern VALUE = Pattern.compile("(?:[!-~](?:[ -~]*[!-~])?)?");

    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .withCoercionConfig(LogicalType.Integer, to -> to.setCoercion(CoercionInputShape.String, CoercionAction.Fail))
            .withCoercionConfig(LogicalType.Textual, to -> to.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                    .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                    .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail))
            .build();

    /** One request of the mix. */
    record Item(String method, String path, Map<String, String> headers, String body, Integer weight) {}

    /** @throws IllegalArgumentException saying what is wrong with the file */
    static RequestFile read(Path path) {
        try {
            return parse(Files.readString(path));
        } catch (IOException e) {
            throw new IllegalArgumentException("--requests %s cannot be read: %s".formatted(path, e), e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("--requests %s: %s".formatted(path, e.getMessage()), e);
        }
    }

    static RequestFile parse(String text) {
        RequestFile file;
        try {
            file = JSON.readValue(text, RequestFile.class);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e.getOriginalMessage(), e);
        }
        if (file == null) {
            throw new IllegalArgumentException("a JSON object is needed");
        }
        file.toMix("");
        return file;
    }

    /** @throws IllegalArgumentException saying what is wrong, and with which request */
    RequestMix toMix(String authority) {
        check(seed != null && seed >= 0, "seed = %s: a whole number from 0 on is needed", seed);
        check(
                requests != null && !requests.isEmpty() && requests.size() <= MAX_REQUESTS,
                "requests: 1 to %d are needed",
                MAX_REQUESTS);
        List<Template> templates = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            try {
                templates.add(template(requests.get(i), authority));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("requests[%d]: %s".formatted(i, e.getMessage()), e);
            }
        }
        return new RequestMix(seed, templates);
    }

    private static Template template(Item item, String authority) {
        check(item != null, "a JSON object is needed");
        check(
                item.method() != null && METHODS.contains(item.method()),
                "method = %s: one of %s is needed",
                shown(item.method()),
                METHODS.stream().sorted().toList());
        check(
                item.path() != null && PATH.matcher(Template.withoutFields(item.path())).matches(),
                "path = %s: it must begin with / and have only characters of a URL, others as %%XX",
                shown(item.path()));
        int weight = item.weight() == null ? 1 : item.weight();
        check(weight >= 1 && weight <= MAX_WEIGHT, "weight = %d: 1 to %d are allowed", weight, MAX_WEIGHT);
        Map<String, String> headers = item.headers() == null ? Map.of() : item.headers();
        Set<String> names = new HashSet<>();
        headers.forEach((name, value) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            check(NAME.matcher(name).matches(), "headers: %s is no name of a header", shown(name));
            check(!OURS.contains(lower), "headers: %s is set by the driver", name);
            check(names.add(lower), "headers: %s stands there twice", name);
            check(
                    value != null && VALUE.matcher(Template.withoutFields(value)).matches(),
                    "headers: the value of %s may have printable ASCII only, no space at its ends",
                    name);
        });
        check(
                item.body() == null || StandardCharsets.UTF_8.newEncoder().canEncode(item.body()),
                "body: half a character cannot be sent");
        String body = item.body() == null && WITH_BODY.contains(item.method()) ? "" : item.body();
        Template template = Template.of(item.method(), item.path(), authority, headers, body, weight);
        check(template.length() <= MAX_BYTES, "%d bytes; at most %d are allowed", template.length(), MAX_BYTES);
        return template;
    }

    /** Returns the text quoted and on one line, whatever is in it. */
    private static String shown(String text) {
        return text == null ? "null" : TextNode.valueOf(text).toString();
    }

    private static void check(boolean holds, String message, Object... values) {
        if (!holds) {
            throw new IllegalArgumentException(message.formatted(values));
        }
    }
}
