package jdkmatrix.standalone.result;

/**
 * The result that an experiment should show, known before it runs.
 *
 * @param quantity the key below {@code seen} that it concerns, with dots between levels; null: no single key
 * @param value in the unit of that key; null where there is no figure, only the formula
 * @param source the reason: a rule, or the published experiment
 */
public record Expected(String quantity, String formula, Double value, String source) {}
