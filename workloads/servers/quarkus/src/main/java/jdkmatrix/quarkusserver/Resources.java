package jdkmatrix.quarkusserver;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import io.quarkus.jackson.ObjectMapperCustomizer;
import jakarta.inject.Singleton;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import jdkmatrix.banking.BankJson;
import jdkmatrix.pinning.Endpoints;
import jdkmatrix.serverprobes.Probe;
import jdkmatrix.serverprobes.ProblemMapper;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;

/** The code that resources share, whatever threads they run on. */
final class Resources {
    private static final Endpoints PINNING = new Endpoints();

    private Resources() {}

    static String probe(String name, UriInfo asked) {
        return Probe.BY_PATH.get("/" + name).answer(asked.getQueryParameters()::getFirst);
    }

    static String pinning(String method, String name, UriInfo asked) {
        return PINNING.answer(method, "/" + name, asked.getQueryParameters()::getFirst) + "\n";
    }

    /** The bank's JSON, with the names of {@link BankJson}. */
    @Singleton
    public static class SnakeCase implements ObjectMapperCustomizer {
        @Override
        public void customize(ObjectMapper mapper) {
            mapper.setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE);
        }
    }

    /** Reports a body that is not the expected JSON in one line; Quarkus would say nothing. */
    public static class UnreadableBody {
        private final ProblemMapper problems = new ProblemMapper();

        @ServerExceptionMapper
        public Response noJson(WebApplicationException problem) {
            return problem.getCause() instanceof JsonProcessingException unreadable
                    ? other(unreadable)
                    : problem.getResponse();
        }

        @ServerExceptionMapper(MismatchedInputException.class)
        public Response other(JsonProcessingException unreadable) {
            return problems.toResponse(BankJson.unreadable(unreadable));
        }
    }
}
