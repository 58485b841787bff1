package jdkmatrix.pinning;

import java.time.Duration;
import java.util.function.UnaryOperator;
import jdkmatrix.serverprobes.FixedWork;
import jdkmatrix.serverprobes.InFlight;
import jdkmatrix.serverprobes.Parameters;
import jdkmatrix.serverprobes.Problem;

/**
 * The answers of the servlet, each of one line.
 *
 * <ul>
 *   <li>{@code GET /block?construct=C&block_ms=N}: blocks for N milliseconds inside C ({@link Construct}); with
 *       {@code burn_us=N} it does the fixed work first.
 *   <li>{@code POST /limit?at_most_ms=N}: from now on no request blocks for longer; without the parameter each as long
 *       as it asks for. A server whose carriers are all pinned for a second answers too few requests to get warm.
 *   <li>{@code GET /ready}: does not block.
 * </ul>
 */
public final class Endpoints {
    static final long MAX_BLOCK_MS = 600_000;
    static final String BLOCKED = "blocked";

    private volatile long atMostMs = MAX_BLOCK_MS;

    /**
     * @param parameter returns a parameter of the request by name, or null
     * @throws Problem 400 if a parameter is missing or wrong, 404 if nothing is there, 503 if interrupted
     */
    public String answer(String method, String path, UnaryOperator<String> parameter) {
        return switch (method + " " + path) {
            case "GET /block" -> block(parameter);
            case "POST /limit" -> limit(parameter.apply("at_most_ms"));
            case "GET /ready" -> "ready";
            default -> throw new Problem(404, "only GET /block, POST /limit and GET /ready are here");
        };
    }

    private String block(UnaryOperator<String> parameter) {
        InFlight.REQUESTS.enter();
        try {
            Construct construct = Construct.of(parameter.apply("construct"));
            long blockMs = Parameters.wholeNumber("block_ms", parameter.apply("block_ms"), 0, MAX_BLOCK_MS);
            FixedWork.burn(parameter.apply("burn_us"));
            construct.block(Duration.ofMillis(Math.min(blockMs, atMostMs)));
            return BLOCKED;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new Problem(503, "interrupted while it blocked");
        } finally {
            InFlight.REQUESTS.leave();
        }
    }

    private String limit(String text) {
        atMostMs = text == null ? MAX_BLOCK_MS : Parameters.wholeNumber("at_most_ms", text, 0, MAX_BLOCK_MS);
        return "at most " + atMostMs + " ms";
    }
}
