package jdkmatrix.banking;

import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;

/** The transfers of {@link Endpoints} through Jakarta REST. */
@Path("transfers")
public class TransferResource {
    @POST
    @Consumes(MediaType.APPLICATION_JSON)
    @Produces(MediaType.APPLICATION_JSON)
    public Response transfer(
            TransferRequest body, @QueryParam("burn_us") String burnUs, @HeaderParam(Business.ORDER) String order) {
        return RestAnswer.of(Endpoints.transfer(body, burnUs, order));
    }
}
