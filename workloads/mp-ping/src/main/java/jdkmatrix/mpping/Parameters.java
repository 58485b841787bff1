package jdkmatrix.mpping;

/** Reads numbers from the outside, strictly. */
final class Parameters {
    private Parameters() {}

    /**
     * @return {@code text} as a whole number from {@code min} to {@code max}
     * @throws Problem 400 when it is something else, or null
     */
    static long wholeNumber(String name, String text, long min, long max) {
        if (text != null) {
            try {
                long value = Long.parseLong(text);
                if (min <= value && value <= max) {
                    return value;
                }
            } catch (NumberFormatException notANumber) {
                // Said below, together with what is allowed.
            }
        }
        throw Problem.badRequest(
                name + ": expected a whole number from " + min + " to " + max + ", found " + (text == null ? "nothing" : text));
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
                // Said below, together with what is allowed.
            }
        }
        throw Problem.misconfigured("system property " + property + ": expected a number above 0, found "
                + (text == null ? "nothing" : text));
    }
}
