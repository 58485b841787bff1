package jdkmatrix.standalone.result;

/**
 * How an experiment ended. A refusal by the host or the JDK is a finding like any other, with the count reached.
 *
 * @param message null when complete
 * @param atCount how many threads, tasks or requests there were; null where nothing was counted
 * @param advice what to do about it; null where there is nothing
 */
public record Outcome(Kind kind, String message, Long atCount, String advice) {
    /** An array, since it is filled with the class: a literal takes heap when first used, and a full heap has none. */
    private static final String[] OF_THREADS = {"native thread", "create a thread"};

    /** The values of the key {@code outcome}. */
    public enum Kind {
        COMPLETE("complete"),
        THREADS_REFUSED("threads-refused"),
        TASKS_REFUSED("tasks-refused"),
        FILES_REFUSED("files-refused"),
        REQUESTS_FAILED("requests-failed"),
        OUT_OF_MEMORY("out-of-memory"),
        TIMED_OUT("timed-out"),
        HUNG("hung"),
        NOT_ON_THIS_JDK("not-on-this-jdk");

        private final String word;

        Kind(String word) {
            this.word = word;
        }

        public String word() {
            return word;
        }
    }

    public static Outcome complete() {
        return new Outcome(Kind.COMPLETE, null, null, null);
    }

    /** Returns whether the host refused a thread: HotSpot and OpenJ9 tell that from a full heap only by the message. */
    public static boolean isOfThreads(Throwable error) {
        String message = error.getMessage();
        return message != null && (message.contains(OF_THREADS[0]) || message.contains(OF_THREADS[1]));
    }

    public static Outcome of(OutOfMemoryError error, Long atCount) {
        String message = String.valueOf(error.getMessage());
        if (isOfThreads(error)) {
            return new Outcome(
                    Kind.THREADS_REFUSED,
                    message,
                    atCount,
                    "more threads need a higher ulimit -u, kernel.pid_max, vm.max_map_count or cgroup pids.max, or more memory");
        }
        return new Outcome(Kind.OUT_OF_MEMORY, message, atCount, "a larger -Xmx");
    }

    public static Outcome notOnThisJdk(String message, String advice) {
        return new Outcome(Kind.NOT_ON_THIS_JDK, message, null, advice);
    }

    public static Outcome timedOut(String message, long atCount) {
        return new Outcome(Kind.TIMED_OUT, message, atCount, null);
    }

    /** @param atCount how many threads had gone on */
    public static Outcome hung(String message, long atCount) {
        return new Outcome(Kind.HUNG, message, atCount, null);
    }

    public boolean isComplete() {
        return kind == Kind.COMPLETE;
    }
}
