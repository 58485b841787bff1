package jdkmatrix.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** The way in which the connections of a phase are opened. */
class PoolTest {
    @Test
    void allEventLoopsTogetherAttemptNoMoreAtOnceThanOne() {
        assertEquals(256, Pool.atOnce(1));
        assertEquals(64, Pool.atOnce(4));
        assertEquals(1, Pool.atOnce(300));
    }
}
