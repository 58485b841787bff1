package jdkmatrix.requestexecutor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class KindTest {
    static Stream<String> everyRow() {
        return Kind.rows().flatMap(row -> row.endsWith("-N")
                ? Stream.of("1", "50", "99999").map(size -> row.replaceFirst("N$", size))
                : Stream.of(row));
    }

    @ParameterizedTest
    @MethodSource("everyRow")
    void everyRowOfTheCatalogueIsReadAndMade(String name) {
        RequestExecutor made = RequestExecutor.of(Kind.named(name));
        made.executor().shutdownNow();
        assertEquals(name, made.getKind());
        assertEquals(Kind.named(name).isPerRequest(), made.isPerRequest());
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(
            strings = {"", "liberty", "virtal", "Virtual", "structured", "fixed", "fixed-", "fixed-N", "fixed-0", "fixed-01", "fixed-100000", "fixed--1"})
    void refusesEverythingElseAndSaysWhatIsAllowed(String name) {
        String message = assertThrows(IllegalArgumentException.class, () -> Kind.named(name)).getMessage();
        assertTrue(message.contains("found " + (name == null ? "nothing" : name) + ", allowed are cached, fixed-N, platform"), message);
    }
}
