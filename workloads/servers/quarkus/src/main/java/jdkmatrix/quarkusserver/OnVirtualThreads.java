package jdkmatrix.quarkusserver;

import io.quarkus.resteasy.reactive.server.EndpointDisabled;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import jdkmatrix.banking.Audit;
import jdkmatrix.banking.Business;
import jdkmatrix.banking.Endpoints;
import jdkmatrix.banking.RestAnswer;
import jdkmatrix.banking.TransferRequest;
import jdkmatrix.mpping.Ping;

/** {@link OnPool} on virtual threads, by an annotation on each resource. */
final class OnVirtualThreads {
    static final String SWITCH = "jdkmatrix.on-virtual-threads.";

    private OnVirtualThreads() {}

    @Path("{application}")
    @RunOnVirtualThread
    @EndpointDisabled(name = SWITCH + "probes", stringValue = "off", disableIfMissing = true)
    public static class ProbeEndpoint {
        @GET
        @Path("{probe:whoami|gauges|burn}")
        @Produces(MediaType.APPLICATION_JSON)
        public String probe(@PathParam("probe") String probe, @Context UriInfo asked) {
            return Resources.probe(probe, asked);
        }
    }

    @Path("{application}")
    @RunOnVirtualThread
    @EndpointDisabled(name = SWITCH + "ping", stringValue = "off", disableIfMissing = true)
    public static class PingEndpoint {
        @GET
        @Path("ping")
        @Produces(MediaType.TEXT_PLAIN)
        public String ping(@QueryParam("burn_us") String burnUs) {
            return Ping.answer(burnUs);
        }
    }

    @Path("{application}")
    @RunOnVirtualThread
    @EndpointDisabled(name = SWITCH + "bank", stringValue = "off", disableIfMissing = true)
    @Produces(MediaType.APPLICATION_JSON)
    public static class BankEndpoints {
        @GET
        @Path("accounts")
        public Endpoints.Terms terms() {
            return Endpoints.terms();
        }

        @GET
        @Path("audit")
        public Audit audit() {
            return Endpoints.audit();
        }

        @GET
        @Path("servlet/accounts/{id}")
        public Response balance(
                @PathParam("id") String id,
                @QueryParam("burn_us") String burnUs,
                @HeaderParam(Business.ORDER) String order) {
            return RestAnswer.of(Endpoints.balance(id, burnUs, order));
        }

        @GET
        @Path("servlet/accounts/{id}/statement")
        public Response statement(
                @PathParam("id") String id,
                @QueryParam("page") String page,
                @QueryParam("size") String size,
                @QueryParam("burn_us") String burnUs,
                @HeaderParam(Business.ORDER) String order) {
            return RestAnswer.of(Endpoints.statement(id, page, size, burnUs, order));
        }

        @POST
        @Path("servlet/transfers")
        public Response transfer(
                TransferRequest body, @QueryParam("burn_us") String burnUs, @HeaderParam(Business.ORDER) String order) {
            return RestAnswer.of(Endpoints.transfer(body, burnUs, order));
        }

        @GET
        @Path("servlet/forward")
        public Response forward(@QueryParam("burn_us") String burnUs, @HeaderParam(Business.ORDER) String order) {
            return RestAnswer.of(Endpoints.forward(burnUs, order));
        }
    }

    @Path("{application}")
    @RunOnVirtualThread
    @EndpointDisabled(name = SWITCH + "pinning", stringValue = "off", disableIfMissing = true)
    @Produces(MediaType.TEXT_PLAIN)
    public static class PinningEndpoints {
        @GET
        @Path("servlet/{name}")
        public String get(@PathParam("name") String name, @Context UriInfo asked) {
            return Resources.pinning("GET", name, asked);
        }

        @POST
        @Path("servlet/{name}")
        public String post(@PathParam("name") String name, @Context UriInfo asked) {
            return Resources.pinning("POST", name, asked);
        }
    }
}
