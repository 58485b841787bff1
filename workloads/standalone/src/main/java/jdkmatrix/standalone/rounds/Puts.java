package jdkmatrix.standalone.rounds;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import javax.sql.DataSource;

/**
 * Puts rows into a table of an embedded H2: inserts a key, or replaces what is there. By default, H2 writes what is
 * committed within half a second, and nothing waits for the disk. A CHECKPOINT SYNC after a put waits for it.
 */
final class Puts implements Operation {
    private static final int KEYS = 3_000;
    private static final int CONNECTIONS = 20;
    private static final String PREFIX = "jdkmatrix-puts-";
    private static final String TABLE =
            "CREATE CACHED TABLE cache (id BIGINT PRIMARY KEY, name VARCHAR(255), content BLOB)";
    private static final String PUT = "MERGE INTO cache KEY (id) VALUES (?, ?, ?)";
    private static final String FORCE = "CHECKPOINT SYNC";

    private final Path folder;
    private final FileStore store;
    private final String version;
    private final DataSource pool;
    private final byte[] content;
    private final boolean sync;
    private final AtomicLong puts = new AtomicLong();

    private Puts(Path folder, int sizeBytes, boolean sync) throws Exception {
        this.folder = folder;
        this.store = Files.getFileStore(folder);
        this.sync = sync;
        this.content = new byte[sizeBytes];
        new Random(1).nextBytes(content);
        this.pool = Pools.pool("jdbc:h2:" + folder.resolve("cache") + ";DB_CLOSE_ON_EXIT=FALSE", CONNECTIONS);
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            version = connection.getMetaData().getDatabaseProductVersion();
            statement.execute(TABLE);
        }
    }

    static Puts into(Path parent, int sizeBytes, boolean sync) throws Exception {
        String prefix = "%s%d-%s-".formatted(PREFIX, ProcessHandle.current().pid(), pidNamespace());
        Path folder = Files.createTempDirectory(parent, prefix).toAbsolutePath();
        deleteAbandoned(parent, Files.getOwner(folder));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> deleteIfPossible(folder), "delete-rows"));
        try {
            return new Puts(folder, sizeBytes, sync);
        } catch (Exception | Error failed) {
            delete(folder);
            throw failed;
        }
    }

    @Override
    public void perform(Tally tally) throws SQLException {
        long startNs = System.nanoTime();
        try (Connection connection = pool.getConnection()) {
            if (tally.isOver()) { // otherwise thousands that wait for one would all go on to put
                tally.waitedSince(startNs);
                return;
            }
            put(connection, puts.getAndIncrement() % KEYS);
        }
        tally.waitedSince(startNs);
        tally.done(1);
    }

    private void put(Connection connection, long key) throws SQLException {
        try (PreparedStatement put = connection.prepareStatement(PUT)) {
            put.setLong(1, key);
            put.setString(2, "group");
            put.setBytes(3, content);
            put.execute();
        }
        if (sync) {
            try (Statement force = connection.createStatement()) {
                force.execute(FORCE);
            }
        }
    }

    @Override
    public Map<String, String> about() {
        return Map.of("H2", version, "File system", "%s on %s".formatted(store.type(), store.name()));
    }

    @Override
    public void close() throws IOException {
        try {
            Pools.close(pool);
        } finally {
            delete(folder);
        }
    }

    /**
     * Deletes what killed processes left behind: only folders of this owner, since anyone else who could write into one
     * could lead the way out of it, and only those of processes that can be seen from here.
     */
    static void deleteAbandoned(Path parent, UserPrincipal owner) throws IOException {
        try (DirectoryStream<Path> all = Files.newDirectoryStream(parent, PREFIX + "*")) {
            for (Path folder : all) {
                String[] told = folder.getFileName().toString().substring(PREFIX.length()).split("-");
                if (told[0].matches("[0-9]{1,18}")
                        && told.length > 1
                        && told[1].equals(pidNamespace())
                        && ProcessHandle.of(Long.parseLong(told[0])).isEmpty()
                        && isOf(owner, folder)) {
                    deleteIfPossible(folder);
                }
            }
        }
    }

    private static boolean isOf(UserPrincipal owner, Path folder) {
        try {
            return Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
                    && Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS).equals(owner);
        } catch (IOException gone) {
            return false;
        }
    }

    /** Returns the PID namespace: in two containers that share a disk, different processes have the same number. */
    static String pidNamespace() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString().replaceAll("[^0-9]", "");
        } catch (IOException hidden) {
            return "0";
        }
    }

    private static void deleteIfPossible(Path folder) {
        try {
            delete(folder);
        } catch (IOException | UncheckedIOException goneOrOfAnotherUser) {
            // Nothing is left to do.
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            all.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        }
    }
}
