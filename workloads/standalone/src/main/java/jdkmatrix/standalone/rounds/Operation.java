package jdkmatrix.standalone.rounds;

import java.io.IOException;
import java.util.Map;

/** What each task does. For any thread. */
interface Operation extends AutoCloseable {
    /** Tells the tally each time that it was done; a task that does it again and again ends when the tally is over. */
    void perform(Tally tally) throws Exception;

    /** What else a reader must know, by the name of a key. */
    default Map<String, String> about() {
        return Map.of();
    }

    @Override
    default void close() throws IOException {}
}
