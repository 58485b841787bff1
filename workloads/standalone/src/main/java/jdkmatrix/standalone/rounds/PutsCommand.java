package jdkmatrix.standalone.rounds;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import jdkmatrix.common.command.Numbers;
import jdkmatrix.standalone.result.Expected;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code puts}. */
@Command(
        name = "puts",
        description = "Hands tasks to an executor, each of which puts a row into an embedded database, in files of a folder of "
                + "its own that is deleted at the end. Tells throughput, CPU and how long one takes. H2 and a pool: "
                + "java -cp standalone.jar:h2.jar:hikari-7.1.0.jar jdkmatrix.standalone.Main puts ...",
        mixinStandardHelpOptions = true)
public final class PutsCommand extends RoundsCommand {
    private static final int MAX_BYTES = 10_000_000;

    @Option(names = "--size-bytes", required = true, paramLabel = "N", description = "of a row")
    private int sizeBytes;

    @Option(
            names = "--folder",
            defaultValue = "/var/tmp",
            paramLabel = "DIR",
            description = "on the file system that is to be written to (default: ${DEFAULT-VALUE})")
    private Path folder;

    @Option(names = "--sync", description = "each task waits until its row is on the disk: CHECKPOINT SYNC behind it")
    private boolean sync;

    @Override
    Map<String, Object> operationAsked() {
        if (!Files.isDirectory(folder)) {
            throw new IllegalArgumentException("--folder = \"%s\": a folder that is there is needed".formatted(folder));
        }
        return Map.of(
                "size_bytes", Numbers.whole("--size-bytes", sizeBytes, 1, MAX_BYTES),
                "folder", folder.toString(),
                "sync", sync);
    }

    @Override
    Operation open(RoundsPlan asked) throws Exception {
        return Puts.into(folder, sizeBytes, sync);
    }

    @Override
    Expected expected(RoundsPlan asked) {
        return new Expected(
                null,
                "none",
                null,
                "while it reads or writes a file, a virtual thread keeps its carrier; that alone leaves as many writers at work "
                        + "as there are carriers (claim dotcms-file-io)");
    }
}
