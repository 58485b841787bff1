package jdkmatrix.banking;

/**
 * A transfer that is in order, as far as can be told without looking at accounts.
 *
 * @param amountMinor in cents, at least 1
 */
public record Transfer(String from, String to, long amountMinor) {}
