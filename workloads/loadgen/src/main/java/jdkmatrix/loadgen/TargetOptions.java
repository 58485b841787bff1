package jdkmatrix.loadgen;

import java.nio.file.Path;
import jdkmatrix.common.command.Numbers;
import jdkmatrix.common.command.Program;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Options that both commands share. */
final class TargetOptions {
    private static final int MAX_THREADS = 256;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(names = "--url", required = true, paramLabel = "URL", description = "http://HOST[:PORT][/PATH][?QUERY]")
    private String url;

    @Option(
            names = "--requests",
            paramLabel = "FILE",
            description = "a mix of requests (JSON, see RequestFile) instead of a GET of the URL's path")
    private Path requests;

    @Option(names = "--threads", defaultValue = "1", paramLabel = "N", description = "event loops (default: ${DEFAULT-VALUE})")
    private int threads;

    @Option(
            names = "--timeout-ms",
            defaultValue = "10000",
            paramLabel = "MS",
            description = "of a request, and of a connection attempt (default: ${DEFAULT-VALUE})")
    private long timeoutMs;

    @Option(
            names = "--bundle-us",
            defaultValue = "300",
            paramLabel = "US",
            description = "requests that are due within this time may be sent together, late but never early; "
                    + "0: each on its own, which costs CPU at high rates (default: ${DEFAULT-VALUE})")
    private long bundleUs;

    Engine newEngine() {
        Target target = Program.checked(command, this::target);
        Limits limits = Program.checked(command, () -> Limits.of(timeoutMs, bundleUs));
        Program.checked(command, () -> Numbers.whole("--threads", threads, 1, MAX_THREADS));
        return new Engine(target, threads, limits);
    }

    private Target target() {
        Target target = Target.parse(url);
        return requests == null ? target : target.withRequests(RequestFile.read(requests));
    }
}
