package jdkmatrix.banking;

import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The accounts, with the ids "000000", "000001", …, and the transfers between them: in memory ({@link Ledger}), or
 * wherever a module of another application keeps them. Thread-safe.
 */
public interface Books {
    /** Opens books that are not in memory; found by the ServiceLoader or given to {@link Endpoints#openBooksBy}. */
    interface Opener {
        /**
         * @param property returns a system property by name, or null
         * @throws jdkmatrix.serverprobes.Problem 500 saying what is missing or wrong
         */
        Books open(int accounts, UnaryOperator<String> property);
    }

    int size();

    /** Returns how many of the newest keys are kept per payer; the transfers of older keys are forgotten. */
    int keysKept();

    /** @return null if there is no account with that id */
    Long balanceMinor(String id);

    /**
     * Returns the last {@link Account#ENTRIES_KEPT}, newest first, less {@code skipped}, at most {@code limit}.
     *
     * @return null if there is no account with that id
     */
    List<Entry> entries(String id, int skipped, int limit);

    Outcome transfer(String key, Transfer transfer);

    /** Audits the books; correct only while nothing is in flight. */
    Audit audit();
}
