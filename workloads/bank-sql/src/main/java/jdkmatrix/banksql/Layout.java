package jdkmatrix.banksql;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.Statement;
import jdkmatrix.banking.Ledger;

/** The tables, and the accounts with their opening balances. */
public final class Layout {
    private static final String TABLES = """
            create table if not exists account (id text primary key, balance_minor bigint not null);
            create table if not exists transfer (
              payer text not null,
              idempotency_key text not null,
              payee text not null,
              amount_minor bigint not null,
              transfer_id bigint,
              payer_minor bigint not null,
              payee_minor bigint not null,
              primary key (payer, idempotency_key)
            );
            create index if not exists of_payer on transfer (payer, transfer_id);
            create index if not exists of_payee on transfer (payee, transfer_id);
            create sequence if not exists transfer_id;""";

    private static final String ACCOUNTS = """
            insert into account select lpad(number::text, 6, '0'), ? from generate_series(0, ? - 1) as number
            on conflict do nothing""";

    private Layout() {}

    /** Creates what does not exist yet and leaves the rest as it is. */
    public static void of(String url, int accounts) {
        Connections.asked(() -> {
            try (Connection connection = DriverManager.getConnection(url);
                    Statement tables = connection.createStatement();
                    PreparedStatement rows = connection.prepareStatement(ACCOUNTS)) {
                tables.execute(TABLES);
                rows.setLong(1, Ledger.OPENING_MINOR);
                rows.setInt(2, accounts);
                return rows.executeUpdate();
            }
        });
    }
}
