package jdkmatrix.banking;

import java.util.List;

/**
 * Whether money was made or lost.
 *
 * @param expectedSumMinor what all accounts together were opened with
 * @param contradictions accounts whose balance is not what their credits and debits make it
 * @param contradicting the ids of the first of them
 * @param conserved the sum is the expected one and there is no contradiction
 */
public record Audit(
        int accounts,
        long transfersDone,
        long balanceSumMinor,
        long expectedSumMinor,
        int contradictions,
        List<String> contradicting,
        boolean conserved) {}
