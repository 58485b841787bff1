package jdkmatrix.standalone.rounds;

import java.util.List;
import java.util.Map;
import jdkmatrix.standalone.command.Choice;
import jdkmatrix.standalone.result.Expected;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code json}. */
@Command(
        name = "json",
        description = "Hands tasks to an executor, each of which writes one small object as JSON with Jackson, and tells "
                + "throughput, CPU and allocation of one: with buffers in a ThreadLocal, in a pool that threads share, in one of "
                + "several parts for virtual threads, or new for each.",
        mixinStandardHelpOptions = true)
public final class JsonCommand extends RoundsCommand {
    @Option(
            names = "--buffers",
            required = true,
            paramLabel = "WHERE",
            description = "thread-local, shared, striped or new: where Jackson has its buffers from")
    private String buffers;

    @Override
    Map<String, Object> operationAsked() {
        List<String> places = JsonWrite.BUFFERS.keySet().stream().sorted().toList();
        return Map.of("buffers", Choice.parse("--buffers", buffers, places, List.of()).word());
    }

    @Override
    Operation open(RoundsPlan asked) {
        return new JsonWrite(buffers);
    }

    @Override
    Expected expected(RoundsPlan asked) {
        return new Expected(
                null,
                "none",
                null,
                "a thread that lives for one task finds nothing in its ThreadLocal and allocates anew: about as much as with "
                        + "buffers that are new for each (claim jackson-thread-local)");
    }
}
