package jdkmatrix.standalone.result;

/**
 * What the experiment should show, known before it runs.
 *
 * @param quantity the key below {@code seen} that it is about, with dots between levels; null: none alone
 * @param value in the unit of that key; null where there is no figure, only the formula
 * @param source why: a rule, or the published experiment
 */
public record Expected(String quantity, String formula, Double value, String source) {}
