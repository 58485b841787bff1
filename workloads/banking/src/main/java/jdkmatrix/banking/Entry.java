package jdkmatrix.banking;

/**
 * One line of a statement.
 *
 * @param counterparty the other account's id
 * @param amountMinor above 0 for a credit, below 0 for a debit
 * @param balanceMinor the balance after it
 */
public record Entry(long transferId, String counterparty, long amountMinor, long balanceMinor) {}
