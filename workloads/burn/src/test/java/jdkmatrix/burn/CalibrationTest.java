package jdkmatrix.burn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CalibrationTest {
    @Test
    void summarisesByMedianAndSpread() {
        assertEquals(new Calibration(800, 3, 0.05), Calibration.of(new double[] {820, 780, 800}));
        assertEquals(new Calibration(805, 4, 40 / 805.0), Calibration.of(new double[] {800, 780, 810, 820}));
        assertEquals(new Calibration(7, 1, 0), Calibration.of(new double[] {7}));
    }

    @Test
    void predictsHowLongRoundsTake() {
        Calibration calibration = Calibration.measure(1);
        long rounds = Math.round(1_000 * calibration.roundsPerUs());
        long fastestNs = Long.MAX_VALUE;
        for (int repeat = 0; repeat < 100; repeat++) {
            fastestNs = Math.min(fastestNs, Burn.timedNs(rounds));
        }
        double ratio = fastestNs / 1e6;
        assertTrue(ratio > 0.7 && ratio < 1.4, calibration + ": a millisecond took " + ratio + " ms");
        assertEquals(20, calibration.repeats());
    }

    @Test
    void readsItsArgument() {
        assertEquals(0.5, Calibrate.parse(new String[] {"--seconds", "0.5"}));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "--seconds", "--seconds x", "--seconds 0", "--seconds -1", "--seconds NaN", "--seconds 601",
        "--second 2", "--seconds 2 3"})
    void refusesOtherArguments(String line) {
        String[] arguments = line.isEmpty() ? new String[0] : line.split(" ");
        assertThrows(IllegalArgumentException.class, () -> Calibrate.parse(arguments));
    }
}
