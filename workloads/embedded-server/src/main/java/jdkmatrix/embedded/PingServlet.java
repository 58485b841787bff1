package jdkmatrix.embedded;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import jdkmatrix.mpping.Ping;
import jdkmatrix.serverprobes.ProblemServlet;

/** {@link Ping} as a servlet. */
final class PingServlet extends ProblemServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void answer(HttpServletRequest request, HttpServletResponse response) throws IOException {
        byte[] answer = Ping.answer(request.getParameter("burn_us")).getBytes(StandardCharsets.UTF_8);
        body(response, HttpServletResponse.SC_OK, "text/plain;charset=utf-8", answer);
    }
}
