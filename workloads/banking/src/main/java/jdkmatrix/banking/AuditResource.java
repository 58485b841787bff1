package jdkmatrix.banking;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** {@code GET /audit}: whether money was made or lost; right only while nothing is in flight. Calls nothing. */
@Path("audit")
public class AuditResource {
    @GET
    @Produces(MediaType.APPLICATION_JSON)
    public Audit audit() {
        return Bank.configured().ledger().audit();
    }
}
