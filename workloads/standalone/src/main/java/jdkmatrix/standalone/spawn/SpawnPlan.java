package jdkmatrix.standalone.spawn;

/**
 * The parameters of the experiment.
 *
 * @param kind "virtual" or "platform"
 * @param task "sleep", "print" or "burn"
 * @param sleepS null unless the task sleeps
 * @param burnRounds null unless the task burns
 * @param sink where lines go: {@link #STDOUT} or a file; null: nowhere
 * @param cold without a rehearsal: the first of these threads is the first of its kind in this process
 */
public record SpawnPlan(
        String kind,
        int count,
        String task,
        Double sleepS,
        Long burnRounds,
        String sink,
        boolean releaseEarly,
        boolean cold,
        double timeoutS) {
    static final String STDOUT = "stdout";

    boolean virtual() {
        return kind.equals("virtual");
    }

    boolean sleeps() {
        return sleepS != null;
    }

    Thread.Builder threads() {
        return virtual() ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
    }
}
