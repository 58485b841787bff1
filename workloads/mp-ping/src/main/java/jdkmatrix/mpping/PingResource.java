package jdkmatrix.mpping;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jdkmatrix.serverprobes.FixedWork;
import jdkmatrix.serverprobes.InFlight;

/** {@code GET /ping} answers a constant; {@code GET /ping?burn_us=N} first does N microseconds of fixed work. */
@Path("ping")
public class PingResource {
    private static final String ANSWER = "pong";

    @GET
    @Produces(MediaType.TEXT_PLAIN)
    public String ping(@QueryParam("burn_us") String burnUs) {
        InFlight.REQUESTS.enter();
        try {
            FixedWork.burn(burnUs);
            return ANSWER;
        } finally {
            InFlight.REQUESTS.leave();
        }
    }
}
