package jdkmatrix.banking;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** The audit of {@link Endpoints} through Jakarta REST. */
@Path("audit")
public class AuditResource {
    @GET
    @Produces(MediaType.APPLICATION_JSON)
    public Audit audit() {
        return Endpoints.audit();
    }
}
