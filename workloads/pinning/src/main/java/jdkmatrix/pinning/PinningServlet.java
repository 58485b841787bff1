package jdkmatrix.pinning;

import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import jdkmatrix.serverprobes.Problem;

/**
 * {@link Endpoints} below {@code /servlet}. A servlet, since Liberty's Jakarta REST 3.1 runs every request inside a method
 * that is {@code synchronized}: there each construct would pin.
 */
@WebServlet("/servlet/*")
public class PinningServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    private final transient Endpoints endpoints = new Endpoints();

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        answer(request, response);
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        answer(request, response);
    }

    private void answer(HttpServletRequest request, HttpServletResponse response) throws IOException {
        try {
            String path = String.valueOf(request.getPathInfo());
            line(response, 200, endpoints.answer(request.getMethod(), path, request::getParameter));
        } catch (Problem problem) {
            line(response, problem.status(), problem.getMessage());
        }
    }

    private static void line(HttpServletResponse response, int status, String text) throws IOException {
        byte[] body = (text + "\n").getBytes(StandardCharsets.UTF_8);
        response.setStatus(status);
        response.setContentType("text/plain;charset=utf-8");
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }
}
