package jdkmatrix.pinning;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import jdkmatrix.serverprobes.Problem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConstructTest {
    private static final Duration LONG = Duration.ofHours(1);

    @ParameterizedTest
    @EnumSource
    void itBlocksAtLeastAsLongAsAsked(Construct construct) throws InterruptedException {
        long from = System.nanoTime();
        construct.block(Duration.ofMillis(20));
        assertTrue(System.nanoTime() - from >= 20_000_000);
    }

    @ParameterizedTest
    @EnumSource
    void noTimeIsNoWait(Construct construct) {
        assertDoesNotThrow(() -> construct.block(Duration.ZERO));
    }

    @ParameterizedTest
    @EnumSource
    @Timeout(600)
    void callsDoNotWaitForEachOther(Construct construct) throws InterruptedException {
        int calls = 5;
        CountDownLatch interrupted = new CountDownLatch(calls);
        List<Thread> threads = new ArrayList<>();
        for (int call = 0; call < calls; call++) {
            threads.add(Thread.ofPlatform().daemon().start(() -> {
                try {
                    construct.block(LONG);
                } catch (InterruptedException asMeant) {
                    interrupted.countDown();
                }
            }));
        }
        for (Thread thread : threads) {
            // One that waited for another's monitor or lock would never get there.
            while (thread.getState() != Thread.State.TIMED_WAITING) {
                assertTrue(thread.isAlive());
                Thread.onSpinWait();
            }
        }
        threads.forEach(Thread::interrupt);
        interrupted.await();
    }

    @Test
    void eachIsFoundByItsNameAndNoneIsForgotten() {
        assertEquals(List.of("none", "synchronized", "lock", "object-wait"),
                Arrays.stream(Construct.values()).map(each -> Construct.of(each.text()).text()).toList());
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", "SYNCHRONIZED", "monitor\nSet-Cookie: a=b"})
    void anyOtherIsRefusedWithWhatThereIs(String text) {
        Problem problem = assertThrows(Problem.class, () -> Construct.of(text));
        assertEquals(400, problem.status());
        assertTrue(problem.getMessage().startsWith("construct: expected one of none, synchronized, lock, object-wait, found"));
        assertEquals(1, problem.getMessage().lines().count());
    }
}
