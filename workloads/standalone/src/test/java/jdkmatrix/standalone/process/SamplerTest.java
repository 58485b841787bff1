package jdkmatrix.standalone.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SamplerTest {
    @Test
    void looksAgainAndAgainUntilItIsClosed() throws InterruptedException {
        AtomicInteger looks = new AtomicInteger();
        CountDownLatch three = new CountDownLatch(3);
        Sampler sampler = new Sampler("test", 1, () -> {
            looks.incrementAndGet();
            three.countDown();
        });
        sampler.start();
        assertTrue(three.await(600, TimeUnit.SECONDS));
        sampler.close();
        int atEnd = looks.get();
        Thread.sleep(20);
        assertEquals(atEnd, looks.get());
    }

    @Test
    void mayBeClosedWithoutHavingBeenStarted() {
        new Sampler("test", 1, () -> {}).close();
    }
}
