package jdkmatrix.standalone.spawn;

/**
 * What was asked for.
 *
 * @param kind "virtual" or "platform"
 * @param task "sleep", "print" or "burn"
 * @param sleepS null unless the task sleeps
 * @param burnRounds null unless the task burns
 * @param sinkFile null: lines go nowhere
 */
public record SpawnPlan(
        String kind,
        int count,
        String task,
        Double sleepS,
        Long burnRounds,
        String sinkFile,
        boolean releaseEarly,
        double timeoutS) {
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
