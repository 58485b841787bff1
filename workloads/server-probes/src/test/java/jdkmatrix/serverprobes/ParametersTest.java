package jdkmatrix.serverprobes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class ParametersTest {
    @Test
    void acceptsTheWholeRange() {
        assertEquals(0, Parameters.wholeNumber("n", "0", 0, 10));
        assertEquals(10, Parameters.wholeNumber("n", "10", 0, 10));
        assertEquals(0.5, Parameters.positive("p", "0.5"));
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", "x", "-1", "11", "1.0", "1e0", " 1", "99999999999999999999"})
    void refusesOtherNumbersAndSaysWhatIsAllowed(String text) {
        Problem problem = assertThrows(Problem.class, () -> Parameters.wholeNumber("burn_us", text, 0, 10));
        assertEquals(400, problem.status());
        assertEquals(
                "burn_us: expected a whole number from 0 to 10, found " + (text == null ? "nothing" : text),
                problem.getMessage());
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", "x", "0", "-1", "NaN", "Infinity"})
    void aBadPropertyIsTheServersFault(String text) {
        Problem problem = assertThrows(Problem.class, () -> Parameters.positive("some.property", text));
        assertEquals(500, problem.status());
        assertEquals(
                "system property some.property: expected a number above 0, found " + (text == null ? "nothing" : text),
                problem.getMessage());
    }

    @Test
    void aPropertyThatIsNoWholeNumberInItsRangeIsTheServersFault() {
        assertEquals(7, Parameters.wholeProperty("some.property", "7", 1, 7));
        Problem problem = assertThrows(Problem.class, () -> Parameters.wholeProperty("some.property", "8", 1, 7));
        assertEquals(500, problem.status());
        assertEquals(
                "system property some.property: expected a whole number from 1 to 7, found 8", problem.getMessage());
    }
}
