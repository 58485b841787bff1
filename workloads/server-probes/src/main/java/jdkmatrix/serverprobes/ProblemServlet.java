package jdkmatrix.serverprobes;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** A servlet that turns a {@link Problem} into the answer. */
public abstract class ProblemServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    /** @throws Problem only while nothing has been written */
    protected abstract void answer(HttpServletRequest request, HttpServletResponse response) throws IOException;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        try {
            answer(request, response);
        } catch (Problem problem) {
            line(response, problem.status(), problem.getMessage());
        }
    }

    protected static void line(HttpServletResponse response, int status, String text) throws IOException {
        body(response, status, "text/plain;charset=utf-8", (text + "\n").getBytes(StandardCharsets.UTF_8));
    }

    protected static void json(HttpServletResponse response, int status, String text) throws IOException {
        body(response, status, "application/json", text.getBytes(StandardCharsets.UTF_8));
    }

    protected static void body(HttpServletResponse response, int status, String contentType, byte[] body)
            throws IOException {
        response.setStatus(status);
        response.setContentType(contentType);
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }
}
