package jdkmatrix.banking;

import jakarta.json.bind.JsonbException;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Provider;
import jdkmatrix.serverprobes.Text;

/** A body that is not the JSON that was expected is the client's fault, and said in one line; the server would say 500. */
@Provider
public class UnreadableMapper implements ExceptionMapper<JsonbException> {
    @Override
    public Response toResponse(JsonbException problem) {
        return Response.status(400)
                .type(MediaType.TEXT_PLAIN_TYPE)
                .entity(line(problem) + "\n")
                .build();
    }

    static String line(JsonbException problem) {
        return "body: not the JSON that was expected: " + Text.quoted(problem.getMessage());
    }
}
