package jdkmatrix.standalone.pinning;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class BlockingTest {
    /** Each call of each construct takes its time: a class that is initialised once only would not. */
    @ParameterizedTest
    @EnumSource(Construct.class)
    void blocksEveryTime(Construct construct) throws ReflectiveOperationException {
        Assumptions.assumeTrue(construct != Construct.NATIVE || ForeignUpcall.isPossible());
        Blocking blocking = Blocking.of(construct, 30);
        for (int call = 0; call < 3; call++) {
            long fromNs = System.nanoTime();
            blocking.block();
            long ms = (System.nanoTime() - fromNs) / 1_000_000;
            assertTrue(ms >= 29 && ms < 5_000, construct + " took " + ms + " ms");
        }
    }
}
