package jdkmatrix.remote;

import io.netty.handler.codec.http.QueryStringDecoder;
import io.vertx.core.http.HttpServerRequest;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The query of a request. Errors in it are a {@link BadRequestException}, never a default. */
record Parameters(Map<String, List<String>> values) {
    static Parameters of(HttpServerRequest request) throws BadRequestException {
        return parse(request.uri());
    }

    static Parameters parse(String uri) throws BadRequestException {
        try {
            return new Parameters(new QueryStringDecoder(uri).parameters());
        } catch (IllegalArgumentException e) {
            throw new BadRequestException("the query cannot be decoded: " + e.getMessage());
        }
    }

    void allowOnly(Set<String> names) throws BadRequestException {
        for (Map.Entry<String, List<String>> entry : values.entrySet()) {
            if (!names.contains(entry.getKey())) {
                throw bad(entry.getKey(), "is unknown", names.stream().sorted().collect(Collectors.joining(", ")));
            }
            if (entry.getValue().size() > 1) {
                throw bad(entry.getKey(), "is given %d times".formatted(entry.getValue().size()), "once");
            }
        }
    }

    boolean has(String name) {
        return values.containsKey(name);
    }

    /** @param missing the default; null: the parameter is required */
    long whole(String name, Long missing, long min, long max) throws BadRequestException {
        if (!has(name) && missing != null) {
            return missing;
        }
        String text = has(name) ? values.get(name).getFirst() : null;
        try {
            long value = Long.parseLong(text);
            if (value >= min && value <= max) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw bad(name, text == null ? "is missing" : "= " + text, "whole numbers from %d to %d".formatted(min, max));
    }

    double real(String name, double missing, double min, double max) throws BadRequestException {
        if (!has(name)) {
            return missing;
        }
        String text = values.get(name).getFirst();
        try {
            double value = Double.parseDouble(text);
            if (value >= min && value <= max) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw bad(name, "= " + text, "numbers from %s to %s".formatted(min, max));
    }

    <T> T oneOf(String name, T missing, T[] all, Function<T, String> word) throws BadRequestException {
        if (!has(name)) {
            return missing;
        }
        String text = values.get(name).getFirst();
        for (T one : all) {
            if (word.apply(one).equals(text)) {
                return one;
            }
        }
        throw bad(name, "= " + text, Arrays.stream(all).map(word).collect(Collectors.joining(", ")));
    }

    static BadRequestException bad(String name, String found, String allowed) {
        return new BadRequestException("%s %s; allowed: %s".formatted(name, found, allowed));
    }
}
