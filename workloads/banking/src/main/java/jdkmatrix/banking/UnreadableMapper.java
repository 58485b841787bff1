package jdkmatrix.banking;

import jakarta.json.bind.JsonbException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Provider;
import jdkmatrix.serverprobes.ProblemMapper;

/** Reports a body that is not the expected JSON in one line; the server would answer 500. */
@Provider
public class UnreadableMapper implements ExceptionMapper<JsonbException> {
    private final ProblemMapper problems = new ProblemMapper();

    @Override
    public Response toResponse(JsonbException problem) {
        return problems.toResponse(BankJson.unreadable(problem));
    }
}
