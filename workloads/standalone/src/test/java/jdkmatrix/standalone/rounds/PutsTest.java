package jdkmatrix.standalone.rounds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import jdkmatrix.common.jdbc.ConnectionPools;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PutsTest {
    /** Stands in for a pool, its connections and a database; keeps what it is told to execute. */
    public static final class Database implements ConnectionPools {
        private static final List<String> TOLD = new CopyOnWriteArrayList<>();
        static volatile Runnable onBorrow = () -> {};

        @Override
        public DataSource pool(String url, int connections) {
            return stub(DataSource.class, "");
        }

        private static <T> T stub(Class<T> type, String prepared) {
            return type.cast(Proxy.newProxyInstance(
                    type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> switch (method.getName()) {
                        case "getConnection" -> {
                            onBorrow.run();
                            yield stub(Connection.class, "");
                        }
                        case "getMetaData" -> stub(DatabaseMetaData.class, "");
                        case "getDatabaseProductVersion" -> "none";
                        case "createStatement" -> stub(Statement.class, "");
                        case "prepareStatement" -> stub(PreparedStatement.class, (String) arguments[0]);
                        case "execute" -> TOLD.add(arguments == null ? prepared : (String) arguments[0]);
                        default -> null;
                    }));
        }
    }

    @Test
    void aTaskThatHadNoConnectionInTimeIsALowerBound(@TempDir Path folder) throws Exception {
        Tally tally = new Tally();
        try (Puts puts = Puts.into(folder, 1, false)) {
            Database.onBorrow = tally::end;
            Database.TOLD.clear();
            puts.perform(tally);
        } finally {
            Database.onBorrow = () -> {};
        }
        assertEquals(List.of(), List.copyOf(Database.TOLD));
        assertEquals(0, tally.operations());
        assertEquals(1, tally.lowerBounds());
        assertEquals(1, tally.waits().getTotalCount());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aTaskWaitsForTheDiskWhereItIsAsked(boolean sync, @TempDir Path folder) throws Exception {
        try (Puts puts = Puts.into(folder, 1, sync)) {
            Database.TOLD.clear();
            puts.perform(new Tally());
        }
        List<String> told = List.copyOf(Database.TOLD);
        assertTrue(told.getFirst().startsWith("MERGE "), told.toString());
        assertEquals(sync ? List.of("CHECKPOINT SYNC") : List.of(), told.subList(1, told.size()));
    }
}
