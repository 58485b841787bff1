package jdkmatrix.serverprobes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class InFlightTest {
    private final InFlight inFlight = new InFlight();

    @Test
    void thePeakOutlivesItsRequestsUntilItIsTaken() {
        inFlight.enter();
        inFlight.enter();
        inFlight.leave();
        assertEquals(1, inFlight.now());
        assertEquals(2, inFlight.peak());
        assertEquals(2, inFlight.takePeak());
        assertEquals(1, inFlight.peak(), "what is in flight when the peak is taken counts for the next");
        inFlight.leave();
        assertEquals(0, inFlight.now());
    }

    @Test
    void noRequestIsLostAmongManyThreads() throws InterruptedException {
        int threads = 8;
        CountDownLatch allIn = new CountDownLatch(threads);
        Thread[] started = new Thread[threads];
        for (int index = 0; index < threads; index++) {
            started[index] = Thread.ofPlatform().start(() -> {
                for (int request = 0; request < 10_000; request++) {
                    inFlight.enter();
                    inFlight.leave();
                }
                inFlight.enter();
                allIn.countDown();
            });
        }
        for (Thread thread : started) {
            thread.join();
        }
        allIn.await();
        assertEquals(threads, inFlight.now());
        assertEquals(threads, inFlight.peak());
    }
}
