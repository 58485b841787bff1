package jdkmatrix.banking;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/**
 * All accounts, with the ids "000000", "000001", …, each opened with the same balance. Thread-safe.
 *
 * <p>A transfer takes the locks of both accounts, always in the order of their ids, so that no two transfers wait for
 * each other. Nothing blocks while a lock is held.
 *
 * <p>A transfer that is repeated with its idempotency key gets the outcome of the first one, even insufficient funds,
 * and moves nothing: the key is looked up and remembered under the payer's lock, so that one of two simultaneous ones
 * is the first. A key belongs to its payer: two payers may use the same one.
 *
 * <p>Keys are forgotten, oldest first: each account remembers {@value #KEYS} / accounts of them, but at least
 * {@value #MIN_KEYS_KEPT} and at most {@value #MAX_KEYS_KEPT}; a key repeated after that many others of the same payer
 * is new. With the limit on entries in {@link Account} that bounds the memory of a run of any length. Counted on
 * JDK 25 with keys of 36 characters: 22 MB for 1,000 accounts, 67 MB for 10,000, 670 MB for 100,000.
 */
public final class Ledger implements Books {
    static final int MIN_ACCOUNTS = 2;
    static final int MAX_ACCOUNTS = 100_000;
    public static final long OPENING_MINOR = 100_000_000;
    static final String CURRENCY = "EUR";
    static final int KEYS = 65_536;
    static final int MIN_KEYS_KEPT = 16;
    static final int MAX_KEYS_KEPT = 1_024;
    private static final int SHOWN_CONTRADICTIONS = 20;

    private final List<Account> accounts;
    private final int keysKept;
    private final AtomicLong transfers = new AtomicLong();

    Ledger(int accounts) {
        keysKept = Math.clamp(KEYS / accounts, MIN_KEYS_KEPT, MAX_KEYS_KEPT);
        this.accounts = IntStream.range(0, accounts)
                .mapToObj(index -> new Account("%06d".formatted(index), OPENING_MINOR, keysKept))
                .toList();
    }

    @Override
    public int keysKept() {
        return keysKept;
    }

    @Override
    public int size() {
        return accounts.size();
    }

    @Override
    public Long balanceMinor(String id) {
        Account account = find(id);
        return account == null ? null : account.balanceMinor();
    }

    @Override
    public List<Entry> entries(String id, int skipped, int limit) {
        Account account = find(id);
        return account == null ? null : account.entries(skipped, limit);
    }

    /** @return null if there is none with that id */
    Account find(String id) {
        int index = TransferRequest.isAccountId(id) ? Integer.parseInt(id) : accounts.size();
        return index < accounts.size() ? accounts.get(index) : null;
    }

    @Override
    public Outcome transfer(String key, Transfer transfer) {
        Account from = find(transfer.from());
        Account to = find(transfer.to());
        if (from == null || to == null) {
            return new Outcome.UnknownAccount(from == null ? transfer.from() : transfer.to());
        }
        boolean inOrder = from.id().compareTo(to.id()) < 0;
        Account first = inOrder ? from : to;
        Account second = inOrder ? to : from;
        first.lock.lock();
        try {
            second.lock.lock();
            try {
                Outcome known = from.known(key, transfer);
                if (known != null) {
                    return known;
                }
                Outcome outcome = move(from, to, transfer.amountMinor());
                from.remember(key, transfer, outcome);
                return outcome;
            } finally {
                second.lock.unlock();
            }
        } finally {
            first.lock.unlock();
        }
    }

    /** Checks one account after another. */
    @Override
    public Audit audit() {
        long sumMinor = 0;
        List<String> contradicting = new ArrayList<>();
        for (Account account : accounts) {
            sumMinor += account.balanceMinor();
            if (!account.agrees()) {
                contradicting.add(account.id());
            }
        }
        long expectedMinor = OPENING_MINOR * accounts.size();
        return new Audit(
                accounts.size(),
                transfers.get(),
                sumMinor,
                expectedMinor,
                contradicting.size(),
                contradicting.subList(0, Math.min(SHOWN_CONTRADICTIONS, contradicting.size())),
                sumMinor == expectedMinor && contradicting.isEmpty(),
                null,
                null);
    }

    private Outcome move(Account from, Account to, long amountMinor) {
        if (from.balanceMinor() < amountMinor) {
            return new Outcome.InsufficientFunds(from.balanceMinor());
        }
        long transferId = transfers.incrementAndGet();
        Entry debit = from.enter(transferId, to.id(), -amountMinor);
        Entry credit = to.enter(transferId, from.id(), amountMinor);
        return new Outcome.Booked(transferId, from.book(debit), to.book(credit));
    }
}
