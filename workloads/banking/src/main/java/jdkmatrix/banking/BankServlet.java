package jdkmatrix.banking;

import jakarta.json.bind.Jsonb;
import jakarta.json.bind.JsonbException;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdkmatrix.serverprobes.Problem;

/**
 * The business endpoints below {@code /servlet}, with the same answers, without Jakarta REST above them.
 *
 * <p>Liberty's Jakarta REST 3.1 is RESTEasy, which runs every request inside a method that is {@code synchronized}
 * (PreMatchContainerRequestContext.filter). Before JDK 24 a virtual thread that waits there pins its carrier, so that no
 * more requests are in flight than there are carriers, whatever the application does. Here nothing above the application
 * holds a monitor.
 */
@WebServlet("/servlet/*")
public class BankServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final Pattern ACCOUNT = Pattern.compile("/accounts/([^/]+)(/statement)?");
    private static final String JSON = "application/json";
    private static final String TEXT = "text/plain;charset=utf-8";

    private final transient Jsonb json = new JsonNames().getContext(Object.class);
    private final transient AccountResource accounts = new AccountResource();
    private final transient ForwardResource forwards = new ForwardResource();
    private final transient TransferResource transfers = new TransferResource();

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
            write(serve(request), response);
        } catch (Problem problem) {
            line(response, problem.status(), problem.getMessage());
        } catch (JsonbException unreadable) {
            line(response, 400, UnreadableMapper.line(unreadable));
        }
    }

    private Response serve(HttpServletRequest request) throws IOException {
        String burnUs = request.getParameter("burn_us");
        String order = request.getHeader(Business.ORDER);
        String path = String.valueOf(request.getPathInfo());
        if (request.getMethod().equals("POST")) {
            if (!path.equals("/transfers")) {
                throw new Problem(404, "POST: only /transfers is here");
            }
            return transfers.transfer(json.fromJson(request.getInputStream(), TransferRequest.class), burnUs, order);
        }
        if (path.equals("/forward")) {
            return forwards.forward(burnUs, order);
        }
        Matcher account = ACCOUNT.matcher(path);
        if (!account.matches()) {
            throw new Problem(404, "GET: only /accounts/ID, /accounts/ID/statement and /forward are here");
        }
        return account.group(2) == null
                ? accounts.balance(account.group(1), burnUs, order)
                : accounts.statement(
                        account.group(1), request.getParameter("page"), request.getParameter("size"), burnUs, order);
    }

    private void write(Response answer, HttpServletResponse response) throws IOException {
        response.setStatus(answer.getStatus());
        response.setHeader(Business.BYTES, answer.getHeaderString(Business.BYTES));
        byte[] body;
        if (answer.getEntity() instanceof byte[] bytes) {
            response.setContentType(String.valueOf(answer.getMediaType()));
            body = bytes;
        } else {
            response.setContentType(JSON);
            body = json.toJson(answer.getEntity()).getBytes(StandardCharsets.UTF_8);
        }
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }

    private static void line(HttpServletResponse response, int status, String message) throws IOException {
        response.setStatus(status);
        response.setContentType(TEXT);
        response.getOutputStream().write((message + "\n").getBytes(StandardCharsets.UTF_8));
    }
}
