package jdkmatrix.loadgen;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The bytes of one request of a mix, and the positions of its fields. Fields have a constant width, so these bytes are
 * right for every request except for the digits of the fields.
 *
 * @param weight its share of the mix, relative to the others'
 * @param lastUnique the highest number that all its fields of kind "unique" can hold; -1 if it has none
 */
record Template(byte[] bytes, int weight, List<Field> fields, long lastUnique) {
    static final int MAX_DIGITS = 15;

    /** Braces around what begins with a letter; anything else in braces is text (JSON keys have quotes). */
    static final Pattern FIELD = Pattern.compile("\\{([A-Za-z][^{}]*)}");
    private static final Pattern UNIQUE = Pattern.compile("unique:([1-9]\\d?)");
    private static final Pattern RANDOM = Pattern.compile("random:(0|[1-9]\\d{0,14}):(0|[1-9]\\d{0,14})");

    /** The {@code width} decimal digits from {@code offset} on: a number that is the request's own, or drawn. */
    record Field(int offset, int width, boolean unique, long lowest, long highest) {}

    static Template literal(String method, String path, String authority) {
        return of(method, path, authority, Map.of(), null, 1);
    }

    /**
     * @param path with no characters but those that a request line may have
     * @param headers with valid names and values, without Host and Content-Length
     * @throws IllegalArgumentException if a field is unknown or too wide
     */
    static Template of(
            String method, String path, String authority, Map<String, String> headers, String body, int weight) {
        Text text = new Text();
        text.literal(method + " ");
        text.add(path);
        text.literal(" HTTP/1.1\r\nHost: " + authority + "\r\n");
        headers.forEach((name, value) -> {
            text.literal(name + ": ");
            text.add(value);
            text.literal("\r\n");
        });
        if (body != null) {
            text.literal("Content-Length: " + lengthOf(body) + "\r\n");
        }
        text.literal("\r\n");
        text.add(body == null ? "" : body);
        return text.toTemplate(weight);
    }

    int length() {
        return bytes.length;
    }

    /** Returns the text with the highest digits in place of its fields, for a check of what else is in it. */
    static String withoutFields(String text) {
        return FIELD.matcher(text).replaceAll(found -> "9".repeat(field(found.group(), found.group(1), 0).width()));
    }

    private static int lengthOf(String text) {
        return withoutFields(text).getBytes(StandardCharsets.UTF_8).length;
    }

    private static Field field(String found, String inside, int offset) {
        Matcher unique = UNIQUE.matcher(inside);
        if (unique.matches() && Integer.parseInt(unique.group(1)) <= MAX_DIGITS) {
            return new Field(offset, Integer.parseInt(unique.group(1)), true, 0, 0);
        }
        Matcher random = RANDOM.matcher(inside);
        if (random.matches()) {
            long lowest = Long.parseLong(random.group(1));
            long highest = Long.parseLong(random.group(2));
            if (lowest <= highest) {
                return new Field(offset, random.group(2).length(), false, lowest, highest);
            }
        }
        throw new IllegalArgumentException(
                "%s is no field; {unique:WIDTH} and {random:LOWEST:HIGHEST} of at most %d digits are"
                        .formatted(found, MAX_DIGITS));
    }

    private static final class Text {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final List<Field> fields = new ArrayList<>();

        void literal(String text) {
            bytes.writeBytes(text.getBytes(StandardCharsets.UTF_8));
        }

        void add(String text) {
            Matcher matcher = FIELD.matcher(text);
            int end = 0;
            while (matcher.find()) {
                literal(text.substring(end, matcher.start()));
                Field field = field(matcher.group(), matcher.group(1), bytes.size());
                fields.add(field);
                literal("0".repeat(field.width()));
                end = matcher.end();
            }
            literal(text.substring(end));
        }

        Template toTemplate(int weight) {
            long lastUnique = fields.stream()
                    .filter(Field::unique)
                    .mapToLong(field -> powerOfTen(field.width()) - 1)
                    .min()
                    .orElse(-1);
            return new Template(bytes.toByteArray(), weight, List.copyOf(fields), lastUnique);
        }

        private static long powerOfTen(int exponent) {
            long power = 1;
            for (int i = 0; i < exponent; i++) {
                power *= 10;
            }
            return power;
        }
    }
}
