package jdkmatrix.mpping;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jdkmatrix.burn.Burn;

/**
 * {@code GET /ping} answers a constant; {@code GET /ping?burn_us=N} first does N microseconds of fixed work. How many
 * rounds make a microsecond is a property of the server process, so that every executor that is compared does the same
 * work, however long it takes it.
 */
@Path("ping")
public class PingResource {
    static final String ROUNDS_PER_US = "jdkmatrix.burn.rounds_per_us";
    static final long MAX_BURN_US = 10_000_000;
    static final InFlight IN_FLIGHT = new InFlight();

    private static final String ANSWER = "pong";

    // Read once: a property look-up in each request would be work that burn_us=0 does not have.
    private static final String CONFIGURED = System.getProperty(ROUNDS_PER_US);

    @GET
    @Produces(MediaType.TEXT_PLAIN)
    public String ping(@QueryParam("burn_us") String burnUs) {
        IN_FLIGHT.enter();
        try {
            if (burnUs != null) {
                burn(burnUs);
            }
            return ANSWER;
        } finally {
            IN_FLIGHT.leave();
        }
    }

    private static void burn(String burnUs) {
        long us = Parameters.wholeNumber("burn_us", burnUs, 0, MAX_BURN_US);
        double roundsPerUs = Parameters.positive(ROUNDS_PER_US, CONFIGURED);
        if (Burn.burn(Math.round(us * roundsPerUs)) == 0) {
            throw new IllegalStateException("burn reached state 0, which no number of rounds can");
        }
    }
}
