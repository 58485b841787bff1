package jdkmatrix.serverprobes;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.UriInfo;
import java.util.Set;

/**
 * The probes through Jakarta REST, for a server that has Servlets but offers applications none: Liberty with no feature
 * other than restfulWS-3.1.
 */
public final class RestProbes {
    public static final Set<Class<?>> CLASSES = Set.of(Whoami.class, Gauges.class, Burn.class, ProblemMapper.class);

    private RestProbes() {}

    @Path("whoami")
    public static class Whoami {
        private static final Probe PROBE = new WhoamiProbe();

        @GET
        @Produces(MediaType.APPLICATION_JSON)
        public String answer(@Context UriInfo asked) {
            return PROBE.answer(asked.getQueryParameters()::getFirst);
        }
    }

    @Path("gauges")
    public static class Gauges {
        private static final Probe PROBE = new GaugesProbe();

        @GET
        @Produces(MediaType.APPLICATION_JSON)
        public String answer(@Context UriInfo asked) {
            return PROBE.answer(asked.getQueryParameters()::getFirst);
        }
    }

    @Path("burn")
    public static class Burn {
        private static final Probe PROBE = new BurnProbe();

        @GET
        @Produces(MediaType.APPLICATION_JSON)
        public String answer(@Context UriInfo asked) {
            return PROBE.answer(asked.getQueryParameters()::getFirst);
        }
    }
}
