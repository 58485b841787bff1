package jdkmatrix.standalone.pinning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PinningExpectationTest {
    /** 1,000 threads that block for a second each, on 16 carriers. */
    @ParameterizedTest
    @CsvSource({
        "synchronized,21,16", "synchronized,23,16", "synchronized,24,1000", "synchronized,28,1000", "lock,21,1000",
        "lock,28,1000", "object-wait,21,256", "object-wait,24,1000", "class-init,21,16", "class-init,28,16", "native,25,16",
        "contended-monitor,21,0", "contended-monitor,23,0", "contended-monitor,24,1000", "contended-lock,21,1000"
    })
    void virtualThreads(String construct, int feature, double perS) {
        PinningPlan plan = new PinningPlan(construct, 1_000, null, 1_000, 10, 2);
        assertEquals(perS, PinningExpectation.of(plan, feature, 16, 256).value());
    }

    @Test
    void fewThreadsDoNotNeedMoreCarriers() {
        PinningPlan plan = new PinningPlan("synchronized", 4, null, 500, 10, 2);
        assertEquals(8, PinningExpectation.of(plan, 21, 16, 256).value());
    }

    @Test
    void platformThreads() {
        PinningPlan plan = new PinningPlan("synchronized", null, 300, 1_000, 10, 2);
        assertEquals(300, PinningExpectation.of(plan, 21, 16, 256).value());
    }

    @Test
    void everyConstructIsKnownByItsWord() {
        for (Construct construct : Construct.values()) {
            assertEquals(construct, Construct.parse(construct.word()));
        }
        assertThrows(IllegalArgumentException.class, () -> Construct.parse("LOCK"));
    }
}
