package jdkmatrix.standalone.pinning;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class BlockingTest {
    /** Returns the constructs that this JDK has. */
    private static Stream<Construct> constructs() {
        return Arrays.stream(Construct.values())
                .filter(construct -> construct != Construct.NATIVE || ForeignUpcall.isPossible());
    }

    /** Each call of each construct takes its time: a class that is initialised only once would not. */
    @ParameterizedTest
    @MethodSource("constructs")
    void blocksEveryTime(Construct construct) throws ReflectiveOperationException {
        Blocking blocking = Blocking.of(construct, 30);
        for (int call = 0; call < 3; call++) {
            long fromNs = System.nanoTime();
            blocking.block();
            long ms = (System.nanoTime() - fromNs) / 1_000_000;
            assertTrue(ms >= 29 && ms < 5_000, construct + " took " + ms + " ms");
        }
    }
}
