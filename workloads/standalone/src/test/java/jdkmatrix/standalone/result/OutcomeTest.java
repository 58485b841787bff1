package jdkmatrix.standalone.result;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutcomeTest {
    @ParameterizedTest
    @ValueSource(strings = {
        "unable to create native thread: possibly out of memory or process/resource limits reached",
        "Failed to create a thread: retVal -1073741830, errno 11"
    })
    void aThreadThatIsRefused(String message) {
        Outcome outcome = Outcome.of(new OutOfMemoryError(message), 12L);
        assertEquals(Outcome.Kind.THREADS_REFUSED, outcome.kind());
        assertEquals(12, outcome.atCount());
        assertEquals(message, outcome.message());
    }

    @Test
    void aHeapThatIsFull() {
        assertEquals(Outcome.Kind.OUT_OF_MEMORY, Outcome.of(new OutOfMemoryError("Java heap space"), null).kind());
        assertEquals(Outcome.Kind.OUT_OF_MEMORY, Outcome.of(new OutOfMemoryError(), null).kind());
        assertNull(Outcome.of(new OutOfMemoryError(), null).atCount());
    }
}
