package jdkmatrix.banksql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import jdkmatrix.banking.Account;
import jdkmatrix.banking.Audit;
import jdkmatrix.banking.Books;
import jdkmatrix.banking.Entry;
import jdkmatrix.banking.Ledger;
import jdkmatrix.banking.Outcome;
import jdkmatrix.banking.Transfer;

/** The accounts in a database, answering as {@link Ledger} does; a transfer is one transaction, see {@link Booking}. */
final class SqlBooks implements Books {
    private static final String BALANCE = "select balance_minor from account where id = ?";

    private static final String LOCKED = "select id, balance_minor from account where id in (?, ?) order by id for update";

    private static final String KEPT = """
            insert into transfer (payer, idempotency_key, payee, amount_minor, transfer_id, payer_minor, payee_minor)
            values (?, ?, ?, ?, case when ? then nextval('transfer_id') end, ?, ?)
            on conflict do nothing returning transfer_id""";

    private static final String MOVED =
            "update account set balance_minor = balance_minor + case when id = ? then ? else ? end where id in (?, ?)";

    private static final String KNOWN = """
            select payee, amount_minor, transfer_id, payer_minor, payee_minor
            from transfer where payer = ? and idempotency_key = ?""";

    private static final String ENTRIES = """
            select transfer_id, counterparty, amount_minor, balance_minor from (
              (select transfer_id, payee as counterparty, -amount_minor as amount_minor, payer_minor as balance_minor
               from transfer where payer = ? and transfer_id is not null order by transfer_id desc limit %1$d)
              union all
              (select transfer_id, payer, amount_minor, payee_minor
               from transfer where payee = ? and transfer_id is not null order by transfer_id desc limit %1$d)
              order by transfer_id desc limit %1$d
            ) as kept order by transfer_id desc offset ? limit ?""".formatted(Account.ENTRIES_KEPT);

    private final int accounts;
    private final Connections connections;
    private final SqlAudit audit;

    private SqlBooks(int accounts, String url, Connections connections) {
        this.accounts = accounts;
        this.connections = connections;
        audit = new SqlAudit(url, accounts);
    }

    /** Creates the accounts that do not exist yet and opens the pool. */
    public static final class Opening implements Books.Opener {
        @Override
        public Books open(int accounts, UnaryOperator<String> property) {
            DatabaseSettings settings = DatabaseSettings.of(property);
            Layout.of(settings.url(), accounts);
            return new SqlBooks(accounts, settings.url(), Connections.of(settings));
        }
    }

    @Override
    public int size() {
        return accounts;
    }

    @Override
    public int keysKept() {
        return Integer.MAX_VALUE;
    }

    @Override
    public Long balanceMinor(String id) {
        return connections.with(connection -> balanceMinor(connection, id));
    }

    @Override
    public List<Entry> entries(String id, int skipped, int limit) {
        return connections.with(connection -> {
            List<Entry> entries = new ArrayList<>();
            try (PreparedStatement query = Prepared.of(connection, ENTRIES, id, id, skipped, limit);
                    ResultSet rows = query.executeQuery()) {
                while (rows.next()) {
                    entries.add(new Entry(rows.getLong(1), rows.getString(2), rows.getLong(3), rows.getLong(4)));
                }
            }
            return entries.isEmpty() && balanceMinor(connection, id) == null ? null : entries;
        });
    }

    @Override
    public Outcome transfer(String key, Transfer transfer) {
        return connections.with(connection -> {
            connection.setAutoCommit(false);
            try {
                Booking.Done done = new OnConnection(connection).book(key, transfer);
                commit(connection, done);
                connection.setAutoCommit(true);
                return done.outcome();
            } catch (Throwable failed) { // errors, too: turning auto-commit on would commit half of the work
                connection.rollback();
                connection.setAutoCommit(true);
                throw failed;
            }
        });
    }

    @Override
    public Audit audit() {
        return audit.now();
    }

    private void commit(Connection connection, Booking.Done done) throws SQLException {
        try {
            connection.commit();
            if (done.moved()) {
                audit.answered();
            }
        } catch (Throwable lost) {
            audit.unknown();
            throw lost;
        }
    }

    private static Long balanceMinor(Connection connection, String id) throws SQLException {
        try (PreparedStatement query = Prepared.of(connection, BALANCE, id);
                ResultSet row = query.executeQuery()) {
            return row.next() ? row.getLong(1) : null;
        }
    }

    /** Executes the statements through plain JDBC. */
    private static final class OnConnection extends Booking<SQLException> {
        private final Connection connection;

        OnConnection(Connection connection) {
            this.connection = connection;
        }

        @Override
        protected Map<String, Long> locked(Transfer transfer) throws SQLException {
            Map<String, Long> balances = new HashMap<>();
            try (PreparedStatement query = Prepared.of(connection, LOCKED, transfer.from(), transfer.to());
                    ResultSet rows = query.executeQuery()) {
                while (rows.next()) {
                    balances.put(rows.getString(1), rows.getLong(2));
                }
            }
            return balances;
        }

        @Override
        protected Long keep(String key, Transfer transfer, boolean covered, long payerMinor, long payeeMinor)
                throws SQLException {
            try (PreparedStatement insert = Prepared.of(
                            connection,
                            KEPT,
                            transfer.from(),
                            key,
                            transfer.to(),
                            transfer.amountMinor(),
                            covered,
                            payerMinor,
                            payeeMinor);
                    ResultSet rows = insert.executeQuery()) {
                return rows.next() ? rows.getLong(1) : null;
            }
        }

        @Override
        protected Kept known(String key, Transfer transfer) throws SQLException {
            try (PreparedStatement query = Prepared.of(connection, KNOWN, transfer.from(), key);
                    ResultSet row = query.executeQuery()) {
                row.next();
                return new Kept(
                        row.getString(1), row.getLong(2), row.getObject(3, Long.class), row.getLong(4), row.getLong(5));
            }
        }

        @Override
        protected void move(Transfer transfer) throws SQLException {
            long amountMinor = transfer.amountMinor();
            try (PreparedStatement update = Prepared.of(
                    connection, MOVED, transfer.from(), -amountMinor, amountMinor, transfer.from(), transfer.to())) {
                update.executeUpdate();
            }
        }
    }
}
