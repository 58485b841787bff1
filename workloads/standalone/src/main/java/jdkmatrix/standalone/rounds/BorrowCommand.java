package jdkmatrix.standalone.rounds;

import java.util.Map;
import jdkmatrix.common.command.Numbers;
import jdkmatrix.standalone.burn.ExecutorKind;
import jdkmatrix.standalone.result.Expected;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code borrow}. */
@Command(
        name = "borrow",
        description = "Lets threads take a connection from the pool that is on the class path, and give it back, again and "
                + "again; the connections lead nowhere. Tells throughput, CPU and how long one is waited for. A pool: "
                + "java -cp standalone.jar:hikari-7.1.0.jar jdkmatrix.standalone.Main borrow ...",
        mixinStandardHelpOptions = true)
public final class BorrowCommand extends RoundsCommand {
    private static final int MAX_CONNECTIONS = 10_000;

    @Option(names = "--connections", required = true, paramLabel = "N", description = "of the pool")
    private int connections;

    @Option(
            names = "--yield",
            description = "while it has a connection, a thread lets others run, as one does that waits for an answer")
    private boolean yields;

    @Override
    Map<String, Object> operationAsked() {
        return Map.of("connections", Numbers.whole("--connections", connections, 1, MAX_CONNECTIONS), "yield", yields);
    }

    @Override
    Operation open(RoundsPlan asked) throws Exception {
        Integer pool = ExecutorKind.parse(asked.executor()).threads();
        return new Borrow(connections, pool == null ? asked.tasks() : Math.min(pool, asked.tasks()), yields);
    }

    @Override
    Expected expected(RoundsPlan asked) {
        return new Expected(null, "none", null, "nothing is known beforehand (claim hikari-borrow compares two versions)");
    }
}
