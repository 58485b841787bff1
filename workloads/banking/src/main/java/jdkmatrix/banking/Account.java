package jdkmatrix.banking;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One account. Its lock guards every field that is not final. The sums of credits and debits are adders that need no
 * lock: a balance that lost an update contradicts them.
 *
 * <p>The lock is a ReentrantLock. Before JDK 24 a virtual thread that waits for a monitor ({@code synchronized}), or
 * parks while it holds one, pins its carrier; pinning is an experiment of its own and must not affect this one.
 *
 * <p>Memory is bounded: an account keeps the last {@value #ENTRIES_KEPT} entries of its statement, and as many
 * idempotency keys as the ledger says. Nothing is allocated for an account that has had no transfer.
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

    /** Returns the kept entries, newest first, less {@code skipped}, at most {@code limit}. */
    List<Entry> entries(int skipped, int limit) {
        lock.lock();
        try {
            return newestFirst == null ? List.of() : newestFirst.stream().skip(skipped).limit(limit).toList();
        } finally {
            lock.unlock();
        }
    }

    /** True if the balance agrees with credits and debits; exact only while nothing is in flight. */
    boolean agrees() {
        return balanceMinor() == openingMinor + creditsMinor.sum() - debitsMinor.sum();
    }

    /** Lock held. Returns the outcome of this account's transfer with that key; null if the key is new or forgotten. */
    Outcome known(String key, Transfer transfer) {
        Remembered first = outcomes == null ? null : outcomes.get(key);
        if (first == null) {
            return null;
        }
        return first.transfer.equals(transfer) ? first.outcome : new Outcome.KeyReused();
    }

    /** Lock held. */
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
     * Lock held. Precedes {@link #book}, which needs no memory: a full heap cannot leave a transfer half done.
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
     * Lock held.
     *
     * @return the balance after the entry
     */
    long book(Entry entry) {
        long amountMinor = entry.amountMinor();
        (amountMinor > 0 ? creditsMinor : debitsMinor).add(Math.abs(amountMinor));
        balanceMinor += amountMinor;
        return balanceMinor;
    }
}
