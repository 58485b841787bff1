package jdkmatrix.springmvc;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import jdkmatrix.banking.Account;
import jdkmatrix.banking.Audit;
import jdkmatrix.banking.Books;
import jdkmatrix.banking.Entry;
import jdkmatrix.banking.Outcome;
import jdkmatrix.banking.Transfer;
import jdkmatrix.banksql.Booking;
import jdkmatrix.banksql.Connections;
import jdkmatrix.banksql.SqlAudit;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.TransactionTemplate;

/** The accounts in a database, through Spring Data JDBC; a transfer is a transaction of Spring's. */
final class SpringDataBooks extends Booking<RuntimeException> implements Books {
    private final AccountRows accounts;
    private final TransferRows transfers;
    private final TransactionTemplate transaction;
    private final int size;
    private final SqlAudit audit;

    SpringDataBooks(
            AccountRows accounts, TransferRows transfers, TransactionTemplate transaction, int size, SqlAudit audit) {
        this.accounts = accounts;
        this.transfers = transfers;
        this.transaction = transaction;
        this.size = size;
        this.audit = audit;
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public int keysKept() {
        return Integer.MAX_VALUE;
    }

    @Override
    public Long balanceMinor(String id) {
        return asked(() -> accounts.findById(id).map(AccountRow::balanceMinor).orElse(null));
    }

    @Override
    public List<Entry> entries(String id, int skipped, int limit) {
        return asked(() -> {
            List<Entry> entries = transfers.entries(id, Account.ENTRIES_KEPT, skipped, limit);
            return entries.isEmpty() && !accounts.existsById(id) ? null : entries;
        });
    }

    @Override
    public Outcome transfer(String key, Transfer transfer) {
        Done done = asked(() -> committed(key, transfer));
        if (done.moved()) {
            audit.answered();
        }
        return done.outcome();
    }

    @Override
    public Audit audit() {
        return audit.now();
    }

    private Done committed(String key, Transfer transfer) {
        AtomicReference<Done> booked = new AtomicReference<>();
        try {
            transaction.executeWithoutResult(status -> booked.set(book(key, transfer)));
            return booked.get();
        } catch (RuntimeException | Error failed) {
            if (booked.get() != null) {
                audit.unknown();
            }
            throw failed;
        }
    }

    @Override
    protected Map<String, Long> locked(Transfer transfer) {
        return accounts.locked(transfer.from(), transfer.to()).stream()
                .collect(Collectors.toMap(AccountRow::id, AccountRow::balanceMinor));
    }

    @Override
    protected Long keep(String key, Transfer transfer, boolean covered, long payerMinor, long payeeMinor) {
        return transfers.keep(
                transfer.from(), key, transfer.to(), transfer.amountMinor(), covered, payerMinor, payeeMinor);
    }

    @Override
    protected Kept known(String key, Transfer transfer) {
        TransferRow row = transfers.known(transfer.from(), key);
        return new Kept(row.payee(), row.amountMinor(), row.transferId(), row.payerMinor(), row.payeeMinor());
    }

    @Override
    protected void move(Transfer transfer) {
        accounts.move(transfer.from(), transfer.to(), transfer.amountMinor());
    }

    private static <T> T asked(Supplier<T> query) {
        try {
            return query.get();
        } catch (DataAccessException | TransactionSystemException refused) {
            throw Connections.refused(refused);
        }
    }
}
