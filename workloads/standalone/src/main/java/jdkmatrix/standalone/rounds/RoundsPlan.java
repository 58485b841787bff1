package jdkmatrix.standalone.rounds;

import java.util.Map;

/**
 * The parameters of the experiment.
 *
 * @param executor as {@link jdkmatrix.standalone.burn.ExecutorKind#parse} reads it
 * @param tasks in a round, handed over at once
 * @param operation the parameters of this operation alone
 */
public record RoundsPlan(
        String executor, int tasks, double durationS, double warmupS, Map<String, Object> operation) {}
