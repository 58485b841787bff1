package jdkmatrix.serverprobes;

import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Provider;

/** Turns a {@link Problem} into the answer of Jakarta REST; for a Servlet, {@link ProblemServlet} does so. */
@Provider
public class ProblemMapper implements ExceptionMapper<Problem> {
    @Override
    public Response toResponse(Problem problem) {
        return Response.status(problem.status())
                .type(MediaType.TEXT_PLAIN_TYPE.withCharset("utf-8"))
                .entity(problem.getMessage() + "\n")
                .build();
    }
}
