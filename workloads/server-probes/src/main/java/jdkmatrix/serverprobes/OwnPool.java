package jdkmatrix.serverprobes;

/** The pools that servers bring along; their threads are told by the names that the servers give them. */
enum OwnPool {
    LIBERTY("liberty", "Default Executor-thread-"),
    JETTY("jetty", "qtp");

    private static final OwnPool[] ALL = values();

    private final String executor;
    private final String threadPrefix;

    OwnPool(String executor, String threadPrefix) {
        this.executor = executor;
        this.threadPrefix = threadPrefix;
    }

    /** Whose thread has that name; null: no server's own. */
    static OwnPool ofThread(String name) {
        for (OwnPool pool : ALL) {
            if (name.startsWith(pool.threadPrefix)) {
                return pool;
            }
        }
        return null;
    }

    /** As it stands in matrix.toml. */
    String executor() {
        return executor;
    }
}
