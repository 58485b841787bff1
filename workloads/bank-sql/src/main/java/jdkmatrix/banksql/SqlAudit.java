package jdkmatrix.banksql;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import jdkmatrix.banking.Audit;
import jdkmatrix.banking.Ledger;

/** Compares what requests were told about their transfers with what is in the database. Thread-safe. */
public final class SqlAudit {
    private static final int SHOWN_CONTRADICTIONS = 20;

    private static final String SUM = "select count(*), coalesce(sum(balance_minor), 0)::bigint from account";

    private static final String DONE = "select count(transfer_id) from transfer";

    /** A transfer that read a balance while another changed it has reported a wrong one or spent what was not there. */
    private static final String CONTRADICTING = """
            select account.id from account left join (
              select id, sum(minor) as minor from (
                select payee as id, amount_minor as minor from transfer where transfer_id is not null
                union all
                select payer, -amount_minor from transfer where transfer_id is not null
              ) as booked group by id
            ) as moved on moved.id = account.id
            left join lateral (
              select minor from (
                (select transfer_id, payer_minor as minor from transfer
                 where payer = account.id and transfer_id is not null order by transfer_id desc limit 1)
                union all
                (select transfer_id, payee_minor from transfer
                 where payee = account.id and transfer_id is not null order by transfer_id desc limit 1)
              ) as told order by transfer_id desc limit 1
            ) as newest on true
            where account.balance_minor <> ? + coalesce(moved.minor, 0)
              or account.balance_minor <> newest.minor or account.balance_minor < 0
            order by account.id""";

    private static final String OPEN = """
            select count(*) from pg_stat_activity
            where backend_type = 'client backend' and xact_start is not null and pid <> pg_backend_pid()""";

    private final String url;
    private final int accounts;
    private final LongAdder answered = new LongAdder();
    /** Transfers whose commit gave no answer. */
    private final LongAdder unknown = new LongAdder();

    public SqlAudit(String url, int accounts) {
        this.url = url;
        this.accounts = accounts;
    }

    /** Counts a request that moved money and is told so. */
    public void answered() {
        answered.increment();
    }

    /** Counts a commit that gave no answer. */
    public void unknown() {
        unknown.increment();
    }

    /** Audits over a connection of its own, since requests may hold those of the pool forever. */
    public Audit now() {
        return Connections.asked(() -> {
            try (Connection connection = DriverManager.getConnection(url)) {
                return audit(connection);
            }
        });
    }

    private Audit audit(Connection connection) throws SQLException {
        long sumMinor;
        int found;
        try (PreparedStatement query = Prepared.of(connection, SUM);
                ResultSet row = query.executeQuery()) {
            row.next();
            found = row.getInt(1);
            sumMinor = row.getLong(2);
        }
        List<String> contradicting = new ArrayList<>();
        try (PreparedStatement query = Prepared.of(connection, CONTRADICTING, Ledger.OPENING_MINOR);
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

    private static long number(Connection connection, String sql) throws SQLException {
        try (PreparedStatement query = Prepared.of(connection, sql);
                ResultSet row = query.executeQuery()) {
            row.next();
            return row.getLong(1);
        }
    }
}
