package jdkmatrix.banking;

import java.util.List;

/**
 * An audit, which shows whether money was made or lost.
 *
 * @param expectedSumMinor the sum of all opening balances
 * @param contradictions number of accounts whose balance disagrees with their credits and debits
 * @param contradicting the ids of the first of them
 * @param conserved true if the sum is the expected one, there is no contradiction and no transfer was lost or made up
 * @param transfersAnswered how many of the transfers done were reported to a request; null if the books are in memory
 * @param openTransactions in a database, on connections that no request holds any more; null likewise
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
