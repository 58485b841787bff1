package jdkmatrix.standalone.pinning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LoopsTest {
    /** Otherwise throughput would be less by its share, and nobody would know why. */
    @Test
    void aThreadThatDiesEndsTheLoopAndIsTold() throws InterruptedException {
        NoClassDefFoundError dies = new NoClassDefFoundError("gone");
        Loops loops = new Loops(0, Duration.ofHours(1).toNanos());
        loops.start(Thread.ofPlatform(), () -> Blocking.sleep(1));
        loops.start(Thread.ofPlatform(), () -> {
            throw dies;
        });
        assertEquals(0, loops.join(System.nanoTime() + TimeUnit.MINUTES.toNanos(1)));
        assertSame(dies, assertThrows(NoClassDefFoundError.class, loops::rethrow));
    }
}
