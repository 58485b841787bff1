package jdkmatrix.standalone.result;

import java.util.concurrent.Callable;

/**
 * What an experiment came to.
 *
 * @param seen a record, written as a JSON object; null where nothing could be seen
 * @param expected null where the experiment ended before it could be worked out
 * @param span when {@code seen} was seen; null where nothing was
 */
public record Findings(Outcome outcome, Expected expected, Object seen, MeasuredSpan span) {
    /** An experiment that ended before it measured. */
    public static Findings none(Outcome outcome, Expected expected) {
        return new Findings(outcome, expected, null, null);
    }

    /** What {@code experiment} found; a full heap, or a thread that it could not do without, is an outcome. */
    public static Findings of(Expected expected, Callable<Findings> experiment) throws Exception {
        try {
            return experiment.call();
        } catch (OutOfMemoryError error) {
            return none(Outcome.of(error, null), expected);
        }
    }
}
