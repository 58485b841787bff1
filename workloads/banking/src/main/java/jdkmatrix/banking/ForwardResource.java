package jdkmatrix.banking;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Response;

/** The forwarding of {@link Endpoints} through Jakarta REST. */
@Path("forward")
public class ForwardResource {
    @GET
    public Response forward(@QueryParam("burn_us") String burnUs, @HeaderParam(Business.ORDER) String order) {
        return RestAnswer.of(Endpoints.forward(burnUs, order));
    }
}
