package jdkmatrix.common.command;

/** Checks the numbers given to options. */
public final class Numbers {
    private Numbers() {}

    /** @throws IllegalArgumentException when {@code value} is not from {@code min} to {@code max} */
    public static long whole(String option, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException("%s = %d: %d to %d are allowed".formatted(option, value, min, max));
        }
        return value;
    }

    /** @throws IllegalArgumentException when {@code text} is not a whole number from {@code min} to {@code max} */
    public static long whole(String option, String text, long min, long max) {
        try {
            return whole(option, Long.parseLong(text), min, max);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("%s = \"%s\": a whole number is needed".formatted(option, text), e);
        }
    }

    /** @throws IllegalArgumentException when {@code value} is not above 0, or above {@code max} */
    public static double positive(String option, double value, double max) {
        if (!(value > 0 && value <= max)) {
            throw new IllegalArgumentException("%s = %s: above 0, at most %s are allowed".formatted(option, value, max));
        }
        return value;
    }

    /** @throws IllegalArgumentException when {@code text} is not a number above 0 and at most {@code max} */
    public static double positive(String option, String text, double max) {
        try {
            return positive(option, Double.parseDouble(text), max);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("%s = \"%s\": a number is needed".formatted(option, text), e);
        }
    }

    /** @throws IllegalArgumentException when {@code value} is below 0 or above {@code max} */
    public static double zeroOrMore(String option, double value, double max) {
        if (!(value >= 0 && value <= max)) {
            throw new IllegalArgumentException("%s = %s: 0 to %s are allowed".formatted(option, value, max));
        }
        return value;
    }
}
