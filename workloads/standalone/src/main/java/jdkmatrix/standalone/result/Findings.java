package jdkmatrix.standalone.result;

/**
 * What an experiment came to.
 *
 * @param seen a record, written as a JSON object; null where nothing could be seen
 * @param expected null where the experiment ended before it could be worked out
 */
public record Findings(Outcome outcome, Expected expected, Object seen) {}
