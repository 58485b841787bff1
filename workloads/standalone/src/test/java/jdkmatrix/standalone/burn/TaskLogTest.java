package jdkmatrix.standalone.burn;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class TaskLogTest {
    @Test
    void keepsEveryTaskAcrossPages() {
        TaskLog log = new TaskLog();
        int count = 20_000;
        for (int task = 0; task < count; task++) {
            TaskLog.Entry entry = log.add(10L + task);
            if (task % 2 == 0) {
                entry.started(100_000L + task);
            }
            if (task % 4 == 0) {
                entry.ended(200_000L + task);
            }
        }
        assertEquals(count, log.size());
        for (int task = 0; task < count; task++) {
            assertEquals(10L + task, log.submittedNs(task));
            assertEquals(task % 2 == 0 ? 100_000L + task : 0, log.startedNs(task));
            assertEquals(task % 4 == 0 ? 200_000L + task : 0, log.endedNs(task));
        }
    }

    /** A task that never started waits for ever. */
    @Test
    void countsWhatIsQueued() {
        TaskLog log = new TaskLog();
        log.add(10).started(15);
        log.add(12);
        log.add(20).started(20);
        Steps queued = log.queued();
        assertEquals(0, queued.inside(9));
        assertEquals(1, queued.inside(10));
        assertEquals(2, queued.inside(12));
        assertEquals(1, queued.inside(15));
        assertEquals(1, queued.inside(20));
        assertEquals(1, queued.inside(1_000));
    }

    @Test
    void aRefusedTaskIsNone() {
        TaskLog log = new TaskLog();
        log.add(1);
        log.dropLast();
        assertEquals(0, log.size());
        log.add(2);
        assertEquals(1, log.size());
        assertEquals(2, log.submittedNs(0));
    }

    @Test
    void anEmptyLog() {
        assertEquals(0, new TaskLog().size());
        assertEquals(0, new TaskLog().queued().most(0, 100));
    }
}
