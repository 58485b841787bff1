package jdkmatrix.standalone.fanout;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.function.Consumer;
import jdkmatrix.common.command.Numbers;
import jdkmatrix.standalone.command.ExperimentCommand;
import jdkmatrix.standalone.result.Findings;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code fanout}. */
@Command(
        name = "fanout",
        description = "Sends many blocking HTTP requests at once from threads of one kind and tells how long all of them take. A "
                + "host that refuses threads or open files is a result.",
        mixinStandardHelpOptions = true)
public final class FanoutCommand extends ExperimentCommand<FanoutPlan> {
    private static final int MAX_REQUESTS = 1_000_000;
    private static final double MAX_DELAY_MS = 600_000;
    private static final double MAX_TIMEOUT_S = 3_600;

    @Option(names = "--url", required = true, paramLabel = "URL", description = "http only")
    private String url;

    @Option(names = "--requests", required = true, paramLabel = "N", description = "each is sent once")
    private int requests;

    @Option(
            names = "--delay-ms",
            required = true,
            paramLabel = "MS",
            description = "after which the server answers; only what is expected depends on it")
    private double delayMs;

    @Option(names = "--delay-is-mean", description = "delays differ, and --delay-ms is their mean")
    private boolean delayIsMean;

    @Option(
            names = "--how",
            required = true,
            paramLabel = "KIND",
            description = "platform (a thread for each request), fixed:P (a pool), virtual, virtual-bounded:P, structured "
                    + "(StructuredTaskScope, before JDK 28 with --enable-preview for the JVM)")
    private String how;

    @Option(
            names = "--warmup-requests",
            defaultValue = "20",
            paramLabel = "N",
            description = "sent in the same way before, not measured; 0: none, as in a program that has just started "
                    + "(default: ${DEFAULT-VALUE})")
    private int warmupRequests;

    @Option(
            names = "--timeout-s",
            defaultValue = "60",
            paramLabel = "S",
            description = "to connect, and to wait for bytes (default: ${DEFAULT-VALUE})")
    private double timeoutS;

    @Override
    protected FanoutPlan asked() {
        Numbers.whole("--requests", requests, 1, MAX_REQUESTS);
        return new FanoutPlan(
                http(url).toString(),
                requests,
                Numbers.zeroOrMore("--delay-ms", delayMs, MAX_DELAY_MS),
                delayIsMean,
                How.parse(how).toString(),
                (int) Numbers.whole("--warmup-requests", warmupRequests, 0, MAX_REQUESTS),
                Numbers.positive("--timeout-s", timeoutS, MAX_TIMEOUT_S));
    }

    @Override
    protected Findings run(FanoutPlan asked, Consumer<String> say) throws Exception {
        return new FanoutExperiment(asked, say).run();
    }

    private static URI http(String text) {
        try {
            URI uri = new URI(text);
            if ("http".equals(uri.getScheme()) && uri.getHost() != null) {
                return uri;
            }
        } catch (URISyntaxException unusable) {
            // Reported below, together with what is allowed.
        }
        throw new IllegalArgumentException("--url = \"%s\": http://HOST:PORT/PATH is needed".formatted(text));
    }
}
