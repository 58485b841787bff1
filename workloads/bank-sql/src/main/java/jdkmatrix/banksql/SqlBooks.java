package jdkmatrix.banksql;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.UnaryOperator;
import jdkmatrix.banking.Account;
import jdkmatrix.banking.Audit;
import jdkmatrix.banking.Books;
import jdkmatrix.banking.Entry;
import jdkmatrix.banking.Ledger;
import jdkmatrix.banking.Outcome;
import jdkmatrix.banking.Transfer;

/**
 * The accounts in a database, with the answers of {@link Ledger}. A transfer is a transaction: it locks both accounts in the
 * order of their ids, keeps the transfer under its idempotency key, and changes the balances. Keys are never forgotten.
 */
final class SqlBooks implements Books {
    private static final int SHOWN_CONTRADICTIONS = 20;

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

    private static final String SUM = "select count(*), coalesce(sum(balance_minor), 0)::bigint from account";

    private static final String DONE = "select count(transfer_id) from transfer";

    private static final String CONTRADICTING = """
            select account.id from account left join (
              select id, sum(minor) as minor from (
                select payee as id, amount_minor as minor from transfer where transfer_id is not null
                union all
                select payer, -amount_minor from transfer where transfer_id is not null
              ) as booked group by id
            ) as moved on moved.id = account.id
            where account.balance_minor <> ? + coalesce(moved.minor, 0) order by account.id""";

    private static final String OPEN = """
            select count(*) from pg_stat_activity
            where backend_type = 'client backend' and xact_start is not null and pid <> pg_backend_pid()""";

    private final int accounts;
    private final String url;
    private final Connections connections;
    private final LongAdder answered = new LongAdder();
    /** Whose commit gave no answer. */
    private final LongAdder unknown = new LongAdder();

    private SqlBooks(int accounts, String url, Connections connections) {
        this.accounts = accounts;
        this.url = url;
        this.connections = connections;
    }

    /** @param moved money, by this very request */
    private record Done(Outcome outcome, boolean moved) {
        static Done refused(Outcome outcome) {
            return new Done(outcome, false);
        }
    }

    /** Lays them out where they are not there yet, and opens the pool. */
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
            try (PreparedStatement query = with(connection, ENTRIES, id, id, skipped, limit);
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
                Done done = book(connection, key, transfer);
                commit(connection);
                if (done.moved()) {
                    answered.increment();
                }
                return done.outcome();
            } catch (SQLException | RuntimeException failed) {
                connection.rollback();
                throw failed;
            } finally {
                connection.setAutoCommit(true);
            }
        });
    }

    @Override
    public Audit audit() {
        // Not of the pool, whose connections a request may hold for good.
        return Connections.asked(() -> {
            try (Connection connection = DriverManager.getConnection(url)) {
                return audit(connection);
            }
        });
    }

    private void commit(Connection connection) throws SQLException {
        try {
            connection.commit();
        } catch (SQLException lost) {
            unknown.increment();
            throw lost;
        }
    }

    private static Done book(Connection connection, String key, Transfer transfer) throws SQLException {
        Map<String, Long> balances = lock(connection, transfer);
        Long payerMinor = balances.get(transfer.from());
        Long payeeMinor = balances.get(transfer.to());
        if (payerMinor == null || payeeMinor == null) {
            return Done.refused(new Outcome.UnknownAccount(payerMinor == null ? transfer.from() : transfer.to()));
        }
        long amountMinor = transfer.amountMinor();
        boolean covered = payerMinor >= amountMinor;
        long movedMinor = covered ? amountMinor : 0;
        Long id = keep(connection, key, transfer, covered, payerMinor - movedMinor, payeeMinor + movedMinor);
        if (id == null) {
            return Done.refused(known(connection, key, transfer));
        }
        if (!covered) {
            return Done.refused(new Outcome.InsufficientFunds(payerMinor));
        }
        try (PreparedStatement update = with(
                connection, MOVED, transfer.from(), -amountMinor, amountMinor, transfer.from(), transfer.to())) {
            update.executeUpdate();
        }
        return new Done(new Outcome.Booked(id, payerMinor - amountMinor, payeeMinor + amountMinor), true);
    }

    private static Map<String, Long> lock(Connection connection, Transfer transfer) throws SQLException {
        Map<String, Long> balances = new HashMap<>();
        try (PreparedStatement query = with(connection, LOCKED, transfer.from(), transfer.to());
                ResultSet rows = query.executeQuery()) {
            while (rows.next()) {
                balances.put(rows.getString(1), rows.getLong(2));
            }
        }
        return balances;
    }

    /** @return its number, 0 where it is not covered; null: the payer has used the key before */
    private static Long keep(
            Connection connection, String key, Transfer transfer, boolean covered, long payerMinor, long payeeMinor)
            throws SQLException {
        try (PreparedStatement insert = with(
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

    private static Outcome known(Connection connection, String key, Transfer transfer) throws SQLException {
        try (PreparedStatement query = with(connection, KNOWN, transfer.from(), key);
                ResultSet row = query.executeQuery()) {
            row.next();
            if (!row.getString(1).equals(transfer.to()) || row.getLong(2) != transfer.amountMinor()) {
                return new Outcome.KeyReused();
            }
            long id = row.getLong(3);
            return row.wasNull()
                    ? new Outcome.InsufficientFunds(row.getLong(4))
                    : new Outcome.Booked(id, row.getLong(4), row.getLong(5));
        }
    }

    private Audit audit(Connection connection) throws SQLException {
        long sumMinor;
        int found;
        try (PreparedStatement query = with(connection, SUM);
                ResultSet row = query.executeQuery()) {
            row.next();
            found = row.getInt(1);
            sumMinor = row.getLong(2);
        }
        List<String> contradicting = new ArrayList<>();
        try (PreparedStatement query = with(connection, CONTRADICTING, Ledger.OPENING_MINOR);
                ResultSet rows = query.executeQuery()) {
            while (rows.next()) {
                contradicting.add(rows.getString(1));
            }
        }
        long done = number(connection, DONE);
        long told = answered.sum();
        long expectedMinor = Ledger.OPENING_MINOR * accounts;
        return new Audit(
                found,
                done,
                sumMinor,
                expectedMinor,
                contradicting.size(),
                contradicting.subList(0, Math.min(SHOWN_CONTRADICTIONS, contradicting.size())),
                sumMinor == expectedMinor && contradicting.isEmpty() && told <= done && done <= told + unknown.sum(),
                told,
                (int) number(connection, OPEN));
    }

    private static Long balanceMinor(Connection connection, String id) throws SQLException {
        try (PreparedStatement query = with(connection, BALANCE, id);
                ResultSet row = query.executeQuery()) {
            return row.next() ? row.getLong(1) : null;
        }
    }

    private static long number(Connection connection, String sql) throws SQLException {
        try (PreparedStatement query = with(connection, sql);
                ResultSet row = query.executeQuery()) {
            row.next();
            return row.getLong(1);
        }
    }

    private static PreparedStatement with(Connection connection, String sql, Object... values) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
        return statement;
    }
}
