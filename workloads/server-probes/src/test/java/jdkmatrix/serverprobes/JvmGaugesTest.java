package jdkmatrix.serverprobes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JvmGaugesTest {
    @ParameterizedTest
    @CsvSource({
        "ZGC Cycles, false",
        "ZGC Pauses, true",
        "ZGC Minor Cycles, false",
        "ZGC Major Pauses, true",
        "Shenandoah Cycles, false",
        "Shenandoah Pauses, true",
        "G1 Concurrent GC, true",
        "G1 Young Generation, true",
        "Copy, true",
        "scavenge, true",
    })
    void onlyPausesAreTimeInCollections(String collector, boolean counts) {
        assertEquals(counts, JvmGauges.pauses(collector));
    }
}
