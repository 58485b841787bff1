package jdkmatrix.pinning;

import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import jdkmatrix.serverprobes.ProblemServlet;

/**
 * {@link Endpoints} below {@code /servlet}. A servlet, since Liberty's Jakarta REST 3.1 runs every request inside a
 * {@code synchronized} method, where each construct would pin.
 */
@WebServlet("/servlet/*")
public class PinningServlet extends ProblemServlet {
    private static final long serialVersionUID = 1L;

    private final transient Endpoints endpoints = new Endpoints();

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        doGet(request, response);
    }

    @Override
    protected void answer(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String path = String.valueOf(request.getPathInfo());
        line(response, HttpServletResponse.SC_OK, endpoints.answer(request.getMethod(), path, request::getParameter));
    }
}
