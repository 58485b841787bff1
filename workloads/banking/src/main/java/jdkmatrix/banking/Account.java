package jdkmatrix.banking;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One account. What is not final is under its lock, except for the sums of credits and debits, which are counted by
 * adders that need none: a balance that lost an update contradicts them.
 *
 * <p>The lock is a ReentrantLock. Before JDK 24 a virtual thread that waits for a monitor ({@code synchronized}), or
 * parks inside of one, keeps its carrier; that pinning is an experiment of its own and must not be in this one.
 *
 * <p>Memory is bounded: of a statement the last {@value #ENTRIES_KEPT} entries are kept, of idempotency keys as many as
 * the ledger says. Nothing is allocated for an account that has had no transfer.
 */
public final class Account {
    public static final int ENTRIES_KEPT = 32;

    private record Remembered(Transfer transfer, Outcome outcome) {}

    final ReentrantLock lock = new ReentrantLock();
    private final String id;
    private final long openingMinor;
    private final int keysKept;
    private final LongAdder creditsMinor = new LongAdder();
    private final LongAdder debitsMinor = new LongAdder();

    private long balanceMinor;
    private Deque<Entry> newestFirst;
    private LinkedHashMap<String, Remembered> outcomes;

    Account(String id, long openingMinor, int keysKept) {
        this.id = id;
        this.openingMinor = openingMinor;
        this.keysKept = keysKept;
        balanceMinor = openingMinor;
    }

    String id() {
        return id;
    }

    long balanceMinor() {
        lock.lock();
        try {
            return balanceMinor;
        } finally {
            lock.unlock();
        }
    }

    /** Newest first: those that are kept, less {@code skipped}, at most {@code limit}. */
    List<Entry> entries(int skipped, int limit) {
        lock.lock();
        try {
            return newestFirst == null ? List.of() : newestFirst.stream().skip(skipped).limit(limit).toList();
        } finally {
            lock.unlock();
        }
    }

    /** Whether the balance is what credits and debits make it; exact only while nothing is in flight. */
    boolean agrees() {
        return balanceMinor() == openingMinor + creditsMinor.sum() - debitsMinor.sum();
    }

    /** With the lock. What came of this account's transfer with that key; null: the key is new, or forgotten. */
    Outcome known(String key, Transfer transfer) {
        Remembered first = outcomes == null ? null : outcomes.get(key);
        if (first == null) {
            return null;
        }
        return first.transfer.equals(transfer) ? first.outcome : new Outcome.KeyReused();
    }

    /** With the lock. */
    void remember(String key, Transfer transfer, Outcome outcome) {
        if (outcomes == null) {
            outcomes = new LinkedHashMap<>();
        }
        outcomes.put(key, new Remembered(transfer, outcome));
        if (outcomes.size() > keysKept) {
            outcomes.pollFirstEntry();
        }
    }

    /**
     * With the lock, before {@link #book}, which needs no memory: where the heap is full, no money is moved by half.
     *
     * @param amountMinor above 0 for a credit, below 0 for a debit
     */
    Entry enter(long transferId, String counterparty, long amountMinor) {
        Entry entry = new Entry(transferId, counterparty, amountMinor, balanceMinor + amountMinor);
        if (newestFirst == null) {
            newestFirst = new ArrayDeque<>();
        }
        if (newestFirst.size() == ENTRIES_KEPT) {
            newestFirst.removeLast();
        }
        newestFirst.addFirst(entry);
        return entry;
    }

    /**
     * With the lock.
     *
     * @return the balance after it
     */
    long book(Entry entry) {
        long amountMinor = entry.amountMinor();
        (amountMinor > 0 ? creditsMinor : debitsMinor).add(Math.abs(amountMinor));
        balanceMinor += amountMinor;
        return balanceMinor;
    }
}
