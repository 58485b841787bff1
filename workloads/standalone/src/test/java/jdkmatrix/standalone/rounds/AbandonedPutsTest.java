package jdkmatrix.standalone.rounds;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AbandonedPutsTest {
    private static final long NOBODY = 999_999_999_999L;

    @TempDir
    Path parent;

    @Test
    void whatAKilledProcessOfThisOwnerHasLeftIsDeleted() throws IOException {
        String here = Puts.pidNamespace();
        abandoned("jdkmatrix-puts-%d-%s-a".formatted(NOBODY, here));
        abandoned("jdkmatrix-puts-%d-%s-a".formatted(ProcessHandle.current().pid(), here));
        abandoned("jdkmatrix-puts-%d-%s9-a".formatted(NOBODY, here));
        abandoned("jdkmatrix-puts-%d-a".formatted(NOBODY));
        Files.createSymbolicLink(
                parent.resolve("jdkmatrix-puts-%d-%s-link".formatted(NOBODY, here)), abandoned("another"));
        Puts.deleteAbandoned(parent, Files.getOwner(parent));
        assertEquals(5, left().size(), "one that lives, one of another namespace, one without, and a link: " + left());
    }

    @Test
    void whatIsOfAnotherOwnerStays() throws IOException {
        abandoned("jdkmatrix-puts-%d-%s-a".formatted(NOBODY, Puts.pidNamespace()));
        UserPrincipal other = () -> "another";
        Puts.deleteAbandoned(parent, other);
        assertEquals(1, left().size());
    }

    private Path abandoned(String name) throws IOException {
        Path folder = Files.createDirectory(parent.resolve(name));
        Files.createFile(folder.resolve("cache.mv.db"));
        return folder;
    }

    private List<Path> left() throws IOException {
        try (Stream<Path> all = Files.list(parent)) {
            return all.toList();
        }
    }
}
