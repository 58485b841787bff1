package jdkmatrix.standalone.burn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import jdkmatrix.standalone.result.Outcome;
import org.junit.jupiter.api.Test;

class SubmitterTest {
    private static final long MS = 1_000_000;

    @Test
    void aBacklogIsSubmittedAndItsLatencyCounts() throws InterruptedException {
        int[] submitted = {0};
        // The first submission takes at least 100 ms, in which 10 more become due; the twelfth ends the run.
        Executor executor = task -> {
            if (submitted[0] == 0) {
                sleep(100);
            }
            if (submitted[0]++ == 11) {
                throw new RejectedExecutionException("enough");
            }
            task.run();
        };
        Period period = new Submitter(executor, new ConstantRate(100), null, 1).run(60_000 * MS, 0);
        assertEquals(11, period.log().size());
        assertTrue(period.due() >= 11, "due " + period.due());
        // Due at 10 ms, and not submitted before 100 ms.
        assertTrue(period.log().submittedNs(1) - period.intendedNs(1) >= 89 * MS);
    }

    @Test
    void whatIsRefusedIsAnOutcomeWithItsCount() throws InterruptedException {
        int[] submitted = {0};
        Executor executor = task -> {
            if (submitted[0]++ == 5) {
                throw new OutOfMemoryError("unable to create native thread: possibly out of memory");
            }
            task.run();
        };
        Period period = new Submitter(executor, null, 1, 1).run(60_000 * MS, 0);
        assertEquals(Outcome.Kind.THREADS_REFUSED, period.outcome().kind());
        assertEquals(5, period.outcome().atCount());
        assertEquals(5, period.log().size());
        assertTrue(period.durationS() < 30);
    }

    @Test
    void anExecutorThatIsFullIsAnOutcome() throws InterruptedException {
        Executor executor = task -> {
            throw new RejectedExecutionException("full");
        };
        Period period = new Submitter(executor, new ConstantRate(1_000), null, 1).run(60_000 * MS, 0);
        assertEquals(Outcome.Kind.TASKS_REFUSED, period.outcome().kind());
        assertEquals(0, period.outcome().atCount());
    }

    /** Tasks that never run delay the end no longer than asked for, and do nothing later. */
    @Test
    void unfinishedTasksAreAbandoned() throws InterruptedException {
        List<Runnable> kept = new ArrayList<>();
        Period period = new Submitter(kept::add, null, 2, 1).run(20 * MS, 30 * MS);
        assertEquals(2, kept.size());
        kept.forEach(Runnable::run);
        assertEquals(0, period.log().startedNs(0));
        assertTrue(period.drainedNs() - period.endNs() >= 30 * MS);
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
