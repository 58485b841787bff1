package jdkmatrix.banking;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;

/** Accounts of {@link Endpoints} through Jakarta REST. */
@Path("accounts")
@Produces(MediaType.APPLICATION_JSON)
public class AccountResource {
    @GET
    public Endpoints.Terms terms() {
        return Endpoints.terms();
    }

    @GET
    @Path("{id}")
    public Response balance(
            @PathParam("id") String id,
            @QueryParam("burn_us") String burnUs,
            @HeaderParam(Business.ORDER) String order) {
        return RestAnswer.of(Endpoints.balance(id, burnUs, order));
    }

    @GET
    @Path("{id}/statement")
    public Response statement(
            @PathParam("id") String id,
            @QueryParam("page") String page,
            @QueryParam("size") String size,
            @QueryParam("burn_us") String burnUs,
            @HeaderParam(Business.ORDER) String order) {
        return RestAnswer.of(Endpoints.statement(id, page, size, burnUs, order));
    }
}
