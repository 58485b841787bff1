package jdkmatrix.serverprobes;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.util.Map;
import jdkmatrix.burn.Burn;

/**
 * {@code GET /burn?rounds=R&repeats=K}: the fastest of K times R rounds, in microseconds, as this process runs them
 * now. Compared with the calibration it says whether a request's work takes what was asked for. The fastest, because
 * everything that disturbs a repeat makes it longer.
 */
@Path("burn")
public class BurnResource {
    private static final long MAX_ROUNDS = 100_000_000_000L;
    private static final long MAX_REPEATS = 10_000;

    @GET
    @Produces(MediaType.APPLICATION_JSON)
    public String burn(@QueryParam("rounds") String roundsText, @QueryParam("repeats") String repeatsText) {
        long rounds = Parameters.wholeNumber("rounds", roundsText, 1, MAX_ROUNDS);
        long repeats = Parameters.wholeNumber("repeats", repeatsText, 1, MAX_REPEATS);
        if (rounds * repeats > MAX_ROUNDS) {
            throw Problem.badRequest("rounds times repeats: at most " + MAX_ROUNDS + ", found " + rounds * repeats);
        }
        long bestNs = Long.MAX_VALUE;
        for (long repeat = 0; repeat < repeats; repeat++) {
            bestNs = Math.min(bestNs, Burn.timedNs(rounds));
        }
        return Json.object(Map.of("rounds", rounds, "best_us", bestNs / 1e3));
    }
}
