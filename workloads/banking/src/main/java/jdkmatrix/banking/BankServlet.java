package jdkmatrix.banking;

import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdkmatrix.serverprobes.Problem;
import jdkmatrix.serverprobes.ProblemServlet;

/**
 * The business endpoints below {@code /servlet}, with the same answers but without Jakarta REST above them.
 *
 * <p>Liberty's Jakarta REST 3.1 is RESTEasy, which runs every request inside a {@code synchronized} method
 * (PreMatchContainerRequestContext.filter). Before JDK 24 a virtual thread that waits there pins its carrier, so that
 * whatever the application does, no more requests are in flight than there are carriers. Here nothing above the
 * application holds a monitor.
 */
@WebServlet("/servlet/*")
public class BankServlet extends ProblemServlet {
    private static final long serialVersionUID = 1L;
    private static final Pattern ACCOUNT = Pattern.compile("/accounts/([^/]+)(/statement)?");

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        doGet(request, response);
    }

    @Override
    protected void answer(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Answer answer = serve(request);
        response.setHeader(Business.BYTES, String.valueOf(answer.remoteBytes()));
        if (answer.body() instanceof byte[] bytes) {
            body(response, answer.status(), answer.contentType(), bytes);
        } else {
            json(response, answer.status(), BankJson.write(answer.body()));
        }
    }

    private static Answer serve(HttpServletRequest request) throws IOException {
        String burnUs = request.getParameter("burn_us");
        String order = request.getHeader(Business.ORDER);
        String path = String.valueOf(request.getPathInfo());
        if (request.getMethod().equals("POST")) {
            if (!path.equals("/transfers")) {
                throw new Problem(404, "POST: only /transfers is here");
            }
            return Endpoints.transfer(BankJson.read(request.getInputStream(), TransferRequest.class), burnUs, order);
        }
        if (path.equals("/forward")) {
            return Endpoints.forward(burnUs, order);
        }
        Matcher account = ACCOUNT.matcher(path);
        if (!account.matches()) {
            throw new Problem(404, "GET: only /accounts/ID, /accounts/ID/statement and /forward are here");
        }
        return account.group(2) == null
                ? Endpoints.balance(account.group(1), burnUs, order)
                : Endpoints.statement(
                        account.group(1), request.getParameter("page"), request.getParameter("size"), burnUs, order);
    }
}
