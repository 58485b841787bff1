package jdkmatrix.serverprobes;

import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Parses numbers and names from outside, strictly. */
public final class Parameters {
    private Parameters() {}

    /**
     * @return {@code text} as a whole number from {@code min} to {@code max}
     * @throws Problem 400 when it is something else, or null
     */
    public static long wholeNumber(String name, String text, long min, long max) {
        Long value = whole(text, min, max);
        if (value == null) {
            throw Problem.badRequest(name + ": " + expected(min, max, text));
        }
        return value;
    }

    /**
     * @return {@code text}, the value of a system property, as a whole number from {@code min} to {@code max}
     * @throws Problem 500 when it is something else, or null
     */
    public static long wholeProperty(String property, String text, long min, long max) {
        Long value = whole(text, min, max);
        if (value == null) {
            throw Problem.misconfigured("system property " + property + ": " + expected(min, max, text));
        }
        return value;
    }

    /**
     * @return the element of {@code allowed} whose name is {@code text}, the value of a system property
     * @throws Problem 500 when it is none of them, or null
     */
    public static <T> T named(String property, String text, T[] allowed, Function<T, String> name) {
        return Arrays.stream(allowed)
                .filter(one -> name.apply(one).equals(text))
                .findFirst()
                .orElseThrow(() -> Problem.misconfigured("system property " + property + ": expected "
                        + Arrays.stream(allowed).map(name).collect(Collectors.joining(" or ")) + ", found " + found(text)));
    }

    /**
     * @return {@code text}, the value of a system property, as a finite number above 0
     * @throws Problem 500 when it is something else, or null
     */
    static double positive(String property, String text) {
        if (text != null) {
            try {
                double value = Double.parseDouble(text);
                if (value > 0 && Double.isFinite(value)) {
                    return value;
                }
            } catch (NumberFormatException notANumber) {
                // Reported below, together with what is allowed.
            }
        }
        throw Problem.misconfigured("system property " + property + ": expected a number above 0, found " + found(text));
    }

    private static Long whole(String text, long min, long max) {
        try {
            long value = Long.parseLong(text);
            return min <= value && value <= max ? value : null;
        } catch (NumberFormatException notANumber) {
            return null;
        }
    }

    private static String expected(long min, long max, String text) {
        return "expected a whole number from " + min + " to " + max + ", found " + found(text);
    }

    private static String found(String text) {
        return text == null ? "nothing" : text;
    }
}
