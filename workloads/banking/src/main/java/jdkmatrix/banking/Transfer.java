package jdkmatrix.banking;

/**
 * A valid transfer, as far as can be told without looking at the accounts.
 *
 * @param amountMinor in cents, at least 1
 */
public record Transfer(String from, String to, long amountMinor) {}
