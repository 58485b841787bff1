package jdkmatrix.standalone.rounds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BorrowTest {
    @AfterEach
    void leave() {
        PutsTest.Database.onBorrow = () -> {};
    }

    @Test
    void everyBorrowOfAThreadIsCountedHoweverFewThereAre() throws Exception {
        Tally tally = new Tally();
        AtomicInteger borrows = new AtomicInteger();
        PutsTest.Database.onBorrow = () -> {
            assertEquals(borrows.getAndIncrement(), tally.operations());
            if (borrows.get() == 10) {
                tally.end();
            }
        };
        new Borrow(1, 1, false).perform(tally);
        assertEquals(10, tally.operations());
    }

    /** At the end, all give back what they have, and each that still waits gets a connection. */
    @Test
    void aThreadThatGetsAConnectionAfterTheEndHadNoneWhileItWasMeasured() throws Exception {
        for (boolean inTime : new boolean[] {true, false}) {
            Tally tally = new Tally();
            tally.measuringBegins();
            AtomicInteger borrows = new AtomicInteger();
            PutsTest.Database.onBorrow = () -> {
                if (borrows.incrementAndGet() == (inTime ? 2 : 1)) {
                    tally.end();
                }
            };
            Borrow borrow = new Borrow(1, 1, false);
            borrow.perform(tally);
            String[] told = borrow.about().values().toArray(new String[0]);
            assertEquals(inTime ? "1" : "0", told[0]);
        }
    }

    /** It may have waited the longest of all: without it, the fewer are served, the shorter the waits would look. */
    @Test
    void aWaitThatEndsAfterTheEndIsALowerBound() throws Exception {
        Tally tally = new Tally();
        long beganNs = System.nanoTime();
        PutsTest.Database.onBorrow = () -> {
            tally.end();
            long endedNs = System.nanoTime();
            while (System.nanoTime() - endedNs <= endedNs - beganNs) {
                Thread.onSpinWait();
            }
        };
        new Borrow(1, 1, false).perform(tally);
        assertEquals(1, tally.lowerBounds());
        assertEquals(1, tally.waits().getTotalCount());
        assertTrue(tally.waits().getMaxValue() <= (System.nanoTime() - beganNs) / 2 * 1.01, "the time after the end counts");
        tally.waitedSince(System.nanoTime());
        assertEquals(1, tally.waits().getTotalCount(), "one that began after the end");
    }

    /** Otherwise a thread that waits long, and so has few borrows, would count for many. */
    @Test
    void eachThreadBeginsToTimeAtAnotherOfItsBorrows() throws Exception {
        Borrow borrow = new Borrow(1, 1, false);
        for (int thread = 0; thread < 66; thread++) {
            assertEquals(thread % 64 == 0 || thread % 64 == 63 ? 1 : 0, timedOfOne(borrow), "thread " + thread);
        }
    }

    private static long timedOfOne(Borrow borrow) throws Exception {
        Tally tally = new Tally();
        AtomicInteger borrows = new AtomicInteger();
        PutsTest.Database.onBorrow = () -> {
            if (borrows.incrementAndGet() == 2) {
                tally.end();
            }
        };
        borrow.perform(tally);
        return tally.waits().getTotalCount();
    }
}
