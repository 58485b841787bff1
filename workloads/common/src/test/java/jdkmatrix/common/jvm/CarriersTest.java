package jdkmatrix.common.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CarriersTest {
    @Test
    void bothWaysOfCountingSeeTheCarrierOfAVirtualThread() throws InterruptedException {
        int[] seen = new int[2];
        Thread virtual = Thread.ofVirtual().start(() -> {
            seen[0] = Carriers.countByClass();
            seen[1] = Carriers.count();
        });
        virtual.join();
        assertTrue(seen[0] >= 1, "by class: " + seen[0]);
        assertEquals(seen[0], seen[1]);
    }

    @Test
    void asManyRunAtOnceAsThereMayBe() {
        assertTrue(Carriers.parallelism() >= 1 && Carriers.parallelism() <= Carriers.maxPoolSize());
    }
}
