package jdkmatrix.banksql;

import java.util.Map;
import jdkmatrix.banking.Outcome;
import jdkmatrix.banking.Transfer;

/**
 * What a transfer does inside its transaction, whatever brings the statements to the database: it locks both accounts in the
 * order of their ids, keeps the transfer under its idempotency key, and changes the balances. Keys are never forgotten.
 *
 * @param <E> what a statement fails with
 */
public abstract class Booking<E extends Exception> {
    /** @param moved money, by this very request */
    public record Done(Outcome outcome, boolean moved) {
        static Done refused(Outcome outcome) {
            return new Done(outcome, false);
        }
    }

    /**
     * A transfer as it is in the database.
     *
     * @param transferId null: it was not covered
     */
    public record Kept(String payee, long amountMinor, Long transferId, long payerMinor, long payeeMinor) {}

    /** The balances of both accounts by their ids, without those that there are not. */
    protected abstract Map<String, Long> locked(Transfer transfer) throws E;

    /** @return its number, 0 where it is not covered; null: the payer has used the key before */
    protected abstract Long keep(String key, Transfer transfer, boolean covered, long payerMinor, long payeeMinor)
            throws E;

    /** Under a key that was used before. */
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
