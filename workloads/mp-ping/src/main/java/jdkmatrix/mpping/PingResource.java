package jdkmatrix.mpping;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;

/** {@link Ping} through Jakarta REST. */
@Path("ping")
public class PingResource {
    @GET
    @Produces(MediaType.TEXT_PLAIN)
    public String ping(@QueryParam("burn_us") String burnUs) {
        return Ping.answer(burnUs);
    }
}
