package jdkmatrix.banksql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Prepares statements and sets their values. */
final class Prepared {
    private Prepared() {}

    static PreparedStatement of(Connection connection, String sql, Object... values) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
        return statement;
    }
}
