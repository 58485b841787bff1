package jdkmatrix.standalone.rounds;

import java.io.IOException;
import java.util.Map;

/** The work of each task. Thread-safe. */
interface Operation extends AutoCloseable {
    /**
     * Reports to the tally each time that it is done, unless it {@link #isOneTask}; a task that repeats it ends when the
     * tally is over.
     */
    void perform(Tally tally) throws Exception;

    /** Returns whether each task does it once, so that it is counted by rounds. */
    default boolean isOneTask() {
        return false;
    }

    /** Returns what else a reader must know, by key. */
    default Map<String, String> about() {
        return Map.of();
    }

    @Override
    default void close() throws IOException {}
}
