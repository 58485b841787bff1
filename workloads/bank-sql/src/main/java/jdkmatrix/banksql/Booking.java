package jdkmatrix.banksql;

import java.util.Map;
import jdkmatrix.banking.Outcome;
import jdkmatrix.banking.Transfer;

/**
 * The transaction of a transfer, whatever sends its statements to the database: it locks both accounts in the order of
 * their ids, stores the transfer under its idempotency key and updates the balances. Keys are never forgotten.
 *
 * @param <E> thrown by a statement that fails
 */
public abstract class Booking<E extends Exception> {
    /** @param moved true if this very request moved money */
    public record Done(Outcome outcome, boolean moved) {
        static Done refused(Outcome outcome) {
            return new Done(outcome, false);
        }
    }

    /**
     * A transfer as stored in the database.
     *
     * @param transferId null if the balance did not cover it
     */
    public record Kept(String payee, long amountMinor, Long transferId, long payerMinor, long payeeMinor) {}

    /** Locks both accounts and returns their balances by id, without those of accounts that do not exist. */
    protected abstract Map<String, Long> locked(Transfer transfer) throws E;

    /** @return the id of the transfer, 0 if it is not covered; null if the payer has used the key before */
    protected abstract Long keep(String key, Transfer transfer, boolean covered, long payerMinor, long payeeMinor)
            throws E;

    /** Returns the transfer stored under a key that was used before. */
    protected abstract Kept known(String key, Transfer transfer) throws E;

    protected abstract void move(Transfer transfer) throws E;

    public final Done book(String key, Transfer transfer) throws E {
        Map<String, Long> balances = locked(transfer);
        Long payerMinor = balances.get(transfer.from());
        Long payeeMinor = balances.get(transfer.to());
        if (payerMinor == null || payeeMinor == null) {
            return Done.refused(new Outcome.UnknownAccount(payerMinor == null ? transfer.from() : transfer.to()));
        }
        long amountMinor = transfer.amountMinor();
        boolean covered = payerMinor >= amountMinor;
        long movedMinor = covered ? amountMinor : 0;
        Long id = keep(key, transfer, covered, payerMinor - movedMinor, payeeMinor + movedMinor);
        if (id == null) {
            return Done.refused(again(transfer, known(key, transfer)));
        }
        if (!covered) {
            return Done.refused(new Outcome.InsufficientFunds(payerMinor));
        }
        move(transfer);
        return new Done(new Outcome.Booked(id, payerMinor - amountMinor, payeeMinor + amountMinor), true);
    }

    private static Outcome again(Transfer transfer, Kept kept) {
        if (!kept.payee().equals(transfer.to()) || kept.amountMinor() != transfer.amountMinor()) {
            return new Outcome.KeyReused();
        }
        return kept.transferId() == null
                ? new Outcome.InsufficientFunds(kept.payerMinor())
                : new Outcome.Booked(kept.transferId(), kept.payerMinor(), kept.payeeMinor());
    }
}
