package jdkmatrix.requestexecutor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class KindTest {
    @ParameterizedTest
    @ValueSource(strings = {"virtual", "platform", "cached", "liberty-virtual", "fixed-1", "fixed-50", "fixed-99999"})
    void readsEveryName(String name) {
        assertEquals(name, Activator.kind(name).toString());
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", "liberty", "virtal", "Virtual", "fixed", "fixed-", "fixed-0", "fixed-01", "fixed-100000", "fixed--1"})
    void refusesEverythingElseAndSaysWhatIsAllowed(String name) {
        String message = assertThrows(IllegalArgumentException.class, () -> Activator.kind(name)).getMessage();
        assertTrue(message.contains("found " + (name == null ? "nothing" : name) + ", allowed are virtual, platform"), message);
    }
}
