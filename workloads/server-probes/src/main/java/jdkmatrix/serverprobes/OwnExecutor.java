package jdkmatrix.serverprobes;

import java.util.Objects;
import java.util.stream.Stream;

/**
 * An executor that the server brings along, told by the names that the server gives its threads. Which names these are its
 * server.toml says, and the runner by system properties: {@code jdkmatrix.own.platform=EXECUTOR=PREFIX} for its pool,
 * {@code jdkmatrix.own.virtual=EXECUTOR=PREFIX} for its own virtual threads.
 *
 * @param name as it stands in matrix.toml
 */
record OwnExecutor(String name, String threadPrefix, boolean virtual) {
    private static final OwnExecutor[] ALL = Stream.of(told("jdkmatrix.own.platform", false), told("jdkmatrix.own.virtual", true))
            .filter(Objects::nonNull)
            .toArray(OwnExecutor[]::new);

    private static OwnExecutor told(String property, boolean virtual) {
        String text = System.getProperty(property);
        int end = text == null ? -1 : text.indexOf('=');
        return end < 0 ? null : new OwnExecutor(text.substring(0, end), text.substring(end + 1), virtual);
    }

    /** Whose thread has that name; null: no executor of the server's own. */
    static OwnExecutor ofThread(String name) {
        for (OwnExecutor own : ALL) {
            if (name.startsWith(own.threadPrefix)) {
                return own;
            }
        }
        return null;
    }
}
