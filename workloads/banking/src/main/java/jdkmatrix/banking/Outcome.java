package jdkmatrix.banking;

/** The outcome of a transfer. */
public sealed interface Outcome {
    /** The money was moved; the balances are those right afterwards. */
    record Booked(long transferId, long fromBalanceMinor, long toBalanceMinor) implements Outcome {}

    /** Nothing was moved: the payer has less than the amount. */
    record InsufficientFunds(long balanceMinor) implements Outcome {}

    /** Nothing was moved: the payer has used the key for another transfer. */
    record KeyReused() implements Outcome {}

    /** Nothing was moved: there is no such account. */
    record UnknownAccount(String id) implements Outcome {}
}
