package jdkmatrix.serverprobes;

import java.util.Arrays;
import java.util.stream.Stream;

/**
 * An executor that the server brings along, recognised by the names of its threads. The server's server.toml defines
 * these names, and the runner passes them in system properties: {@code jdkmatrix.own.platform=EXECUTOR=PREFIX} for its
 * pool, {@code jdkmatrix.own.virtual=EXECUTOR=PREFIX} for its own virtual threads; several are separated by ;.
 *
 * @param name as written in matrix.toml
 */
record OwnExecutor(String name, String threadPrefix, boolean virtual) {
    private static final OwnExecutor[] ALL = Stream.concat(told("jdkmatrix.own.platform", false), told("jdkmatrix.own.virtual", true))
            .toArray(OwnExecutor[]::new);

    private static Stream<OwnExecutor> told(String property, boolean virtual) {
        return Arrays.stream(System.getProperty(property, "").split(";"))
                .map(text -> text.split("=", 2))
                .filter(told -> told.length == 2)
                .map(told -> new OwnExecutor(told[0], told[1], virtual));
    }

    /** Returns the executor whose thread has that name; null: none of the server's own. */
    static OwnExecutor ofThread(String name) {
        for (OwnExecutor own : ALL) {
            if (name.startsWith(own.threadPrefix)) {
                return own;
            }
        }
        return null;
    }
}
