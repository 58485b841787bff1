package jdkmatrix.embedded;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import jdkmatrix.banking.BankJson;
import jdkmatrix.banking.Endpoints;
import jdkmatrix.serverprobes.ProblemServlet;

/** The bank's terms and its audit: {@code GET /accounts} and {@code GET /audit}. */
final class BankStateServlet extends ProblemServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void answer(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Object state = request.getServletPath().equals("/audit") ? Endpoints.audit() : Endpoints.terms();
        json(response, HttpServletResponse.SC_OK, BankJson.write(state));
    }
}
