package jdkmatrix.burn;

import java.util.Locale;

/**
 * {@code java -cp burn.jar jdkmatrix.burn.Calibrate --seconds 2}: prints a {@link Calibration} as one line of JSON.
 * Run it on the CPU that the server will get, with nothing else on it. Exit status 2: bad arguments.
 */
public final class Calibrate {
    private static final double MAX_SECONDS = 600;

    private Calibrate() {}

    public static void main(String[] args) {
        double seconds;
        try {
            seconds = parse(args);
        } catch (IllegalArgumentException problem) {
            System.err.println("calibrate: " + problem.getMessage());
            System.exit(2);
            return;
        }
        Calibration result = Calibration.measure(seconds);
        System.out.printf(
                Locale.ROOT,
                "{\"rounds_per_us\":%.3f,\"repeats\":%d,\"spread\":%.5f}%n",
                result.roundsPerUs(),
                result.repeats(),
                result.spread());
    }

    static double parse(String[] args) {
        if (args.length != 2 || !args[0].equals("--seconds")) {
            throw new IllegalArgumentException("expected: --seconds NUMBER, found: " + String.join(" ", args));
        }
        double seconds;
        try {
            seconds = Double.parseDouble(args[1]);
        } catch (NumberFormatException notANumber) {
            throw new IllegalArgumentException("--seconds: expected a number, found: " + args[1], notANumber);
        }
        if (!(seconds > 0 && seconds <= MAX_SECONDS)) {
            throw new IllegalArgumentException(
                    "--seconds: expected more than 0 and at most " + (long) MAX_SECONDS + ", found: " + args[1]);
        }
        return seconds;
    }
}
