package jdkmatrix.serverprobes;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** One probe at one address. */
final class ProbeServlet extends ProblemServlet {
    private static final long serialVersionUID = 1L;

    private final transient Probe probe;

    ProbeServlet(Probe probe) {
        this.probe = probe;
    }

    @Override
    protected void answer(HttpServletRequest request, HttpServletResponse response) throws IOException {
        json(response, HttpServletResponse.SC_OK, probe.answer(request::getParameter));
    }
}
