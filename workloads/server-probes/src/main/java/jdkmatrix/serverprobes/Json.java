package jdkmatrix.serverprobes;

import java.util.Map;
import java.util.stream.Collectors;

/** Writes flat JSON objects. The smallest feature set has no JSON binding, and the workload must not need more. */
public final class Json {
    private Json() {}

    /** @param members in the order of the map; values are numbers, booleans, strings or null */
    public static String object(Map<String, ?> members) {
        return members.entrySet().stream()
                .map(member -> string(member.getKey()) + ":" + value(member.getValue()))
                .collect(Collectors.joining(",", "{", "}"));
    }

    private static String value(Object value) {
        return switch (value) {
            case null -> "null";
            case Number number -> number.toString();
            case Boolean bool -> bool.toString();
            case String text -> string(text);
            default -> throw new IllegalArgumentException("not a flat JSON value: " + value.getClass());
        };
    }

    private static String string(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
