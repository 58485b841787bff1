package jdkmatrix.banking;

import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The accounts, with the ids "000000", "000001", …, and what moves money between them: in memory ({@link Ledger}), or where a
 * module of another application keeps them. For any thread.
 */
public interface Books {
    /** Of the books that are not in memory; the ServiceLoader finds it, or {@link Endpoints#openBooksBy} names it. */
    interface Opener {
        /**
         * @param property gives a system property by its name, or null
         * @throws jdkmatrix.serverprobes.Problem 500 says what is missing or wrong
         */
        Books open(int accounts, UnaryOperator<String> property);
    }

    int size();

    /** Of each payer, the newest; the transfers of older ones are forgotten. */
    int keysKept();

    /** @return null: there is no account with that id */
    Long balanceMinor(String id);

    /**
     * Newest first: the last {@link Account#ENTRIES_KEPT}, less {@code skipped}, at most {@code limit}.
     *
     * @return null: there is no account with that id
     */
    List<Entry> entries(String id, int skipped, int limit);

    Outcome transfer(String key, Transfer transfer);

    /** Right only while nothing is in flight. */
    Audit audit();
}
