package jdkmatrix.standalone.burn;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The times when each task was submitted, started and ended, as System.nanoTime; 0: not yet. One thread adds tasks,
 * each task writes its own times; they may be read when all of them have ended.
 */
final class TaskLog {
    /** Small enough that no garbage collector treats a page as a huge object. */
    private static final int PAGE_TASKS = 1 << 13;

    private final List<Page> pages = new ArrayList<>();
    private int used = PAGE_TASKS;

    /** Times of some tasks, one after the other. */
    static final class Page {
        private final long[] submittedNs = new long[PAGE_TASKS];
        private final long[] startedNs = new long[PAGE_TASKS];
        private final long[] endedNs = new long[PAGE_TASKS];
    }

    /** The place where one task writes. */
    record Entry(Page page, int slot) {
        void started(long ns) {
            page.startedNs[slot] = ns;
        }

        void ended(long ns) {
            page.endedNs[slot] = ns;
        }
    }

    Entry add(long submittedNs) {
        if (used == PAGE_TASKS) {
            pages.add(new Page());
            used = 0;
        }
        Page page = pages.getLast();
        page.submittedNs[used] = submittedNs;
        return new Entry(page, used++);
    }

    /** Removes the newest task, which was refused. */
    void dropLast() {
        used--;
    }

    int size() {
        return pages.isEmpty() ? 0 : (pages.size() - 1) * PAGE_TASKS + used;
    }

    long submittedNs(int task) {
        return pages.get(task / PAGE_TASKS).submittedNs[task % PAGE_TASKS];
    }

    long startedNs(int task) {
        return pages.get(task / PAGE_TASKS).startedNs[task % PAGE_TASKS];
    }

    long endedNs(int task) {
        return pages.get(task / PAGE_TASKS).endedNs[task % PAGE_TASKS];
    }

    /** Returns the number of queued tasks over time: up with each submission, down with each start. */
    Steps queued() {
        long[] submitted = new long[size()];
        long[] started = new long[size()];
        int begun = 0;
        for (int task = 0; task < submitted.length; task++) {
            submitted[task] = submittedNs(task);
            if (startedNs(task) != 0) {
                started[begun++] = startedNs(task);
            }
        }
        return Steps.of(submitted, Arrays.copyOf(started, begun));
    }
}
