package jdkmatrix.requestexecutor;

import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * An executor that a server can be given: a row of the catalogue (workloads/executors/executors.toml).
 *
 * @param name as written in matrix.toml: {@code fixed-50}
 * @param row as written in the catalogue: {@code fixed-N}
 * @param size N; 0 where there is none
 */
public record Kind(String name, String row, int size) {
    private static final Pattern SIZED = Pattern.compile("(.+-)([1-9][0-9]{0,4})");
    private static final Properties CATALOGUE = catalogue();

    /** @throws IllegalArgumentException if it is unknown; the message says what was found and what is allowed */
    public static Kind named(String text) {
        return Optional.ofNullable(text)
                .flatMap(Kind::parsed)
                .filter(kind -> kind.is("plugged"))
                .orElseThrow(() -> new IllegalArgumentException("unknown request executor: found %s, allowed are %s, with N from 1 to 99999"
                        .formatted(text == null ? "nothing" : text, rows().sorted().collect(Collectors.joining(", ")))));
    }

    /** Returns the row of that name, which need not be in the catalogue, and its N; empty: N stands in for a number. */
    public static Optional<Kind> parsed(String text) {
        Matcher sized = SIZED.matcher(text);
        if (sized.matches()) {
            return Optional.of(new Kind(text, sized.group(1) + "N", Integer.parseInt(sized.group(2))));
        }
        return text.endsWith("-N") ? Optional.empty() : Optional.of(new Kind(text, text, 0));
    }

    /** Returns the rows of the catalogue that a server can be given. */
    static Stream<String> rows() {
        return CATALOGUE.stringPropertyNames().stream()
                .filter(key -> key.endsWith(".plugged"))
                .map(key -> key.substring(0, key.lastIndexOf('.')));
    }

    public boolean isVirtual() {
        return is("virtual");
    }

    /** Returns whether it starts a thread for each request. */
    public boolean isPerRequest() {
        return is("per_request");
    }

    private boolean is(String flag) {
        return "true".equals(CATALOGUE.getProperty(row + "." + flag));
    }

    private static Properties catalogue() {
        Properties rows = new Properties();
        try (Reader file = new InputStreamReader(Kind.class.getResourceAsStream("executors.toml"), StandardCharsets.UTF_8)) {
            rows.load(file);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        return rows;
    }
}
