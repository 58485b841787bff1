package jdkmatrix.banking;

import java.util.List;

/**
 * Whether money was made or lost.
 *
 * @param expectedSumMinor what all accounts together were opened with
 * @param contradictions accounts whose balance is not what their credits and debits make it
 * @param contradicting the ids of the first of them
 * @param conserved the sum is the expected one, there is no contradiction, and no transfer is lost or made
 * @param transfersAnswered of those done, how many a request was told of; null: the books are in memory
 * @param openTransactions in a database, of connections that no request has any more; null: likewise
 */
public record Audit(
        int accounts,
        long transfersDone,
        long balanceSumMinor,
        long expectedSumMinor,
        int contradictions,
        List<String> contradicting,
        boolean conserved,
        Long transfersAnswered,
        Integer openTransactions) {}
