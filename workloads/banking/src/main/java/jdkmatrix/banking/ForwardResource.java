package jdkmatrix.banking;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Response;

/** {@code GET /forward}: calls the remote system and answers with its body, for experiments that only wait. */
@Path("forward")
public class ForwardResource {
    @GET
    public Response forward(@QueryParam("burn_us") String burnUs, @HeaderParam(Business.ORDER) String order) {
        return Business.serve(burnUs, order, (bank, reply) -> Response.ok(reply.body(), reply.contentType()));
    }
}
