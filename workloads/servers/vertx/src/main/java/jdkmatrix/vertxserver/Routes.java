package jdkmatrix.vertxserver;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.io.ByteArrayInputStream;
import java.util.logging.Level;
import java.util.logging.Logger;
import jdkmatrix.banking.Answer;
import jdkmatrix.banking.BankJson;
import jdkmatrix.banking.Business;
import jdkmatrix.banking.Endpoints;
import jdkmatrix.banking.TransferRequest;
import jdkmatrix.embedded.Application;
import jdkmatrix.mpping.Ping;
import jdkmatrix.serverprobes.Probe;
import jdkmatrix.serverprobes.Problem;

/**
 * Answers a request for the application, on the calling thread. Vert.x Core has no routing, so paths are told apart
 * here. Those under load are the same as with Servlets.
 */
final class Routes {
    private static final Logger LOG = Logger.getLogger(Routes.class.getName());
    private static final String JSON = "application/json";
    private static final String TEXT = "text/plain;charset=utf-8";
    private static final String GET = "GET ";
    private static final String LOADED = "/servlet/";
    private static final String ACCOUNT = GET + LOADED + "accounts/";
    private static final String STATEMENT = "/statement";

    private final Application application;
    private final jdkmatrix.pinning.Endpoints pinning = new jdkmatrix.pinning.Endpoints();

    Routes(Application application) {
        this.application = application;
    }

    void answer(HttpServerRequest request, Buffer body) {
        try {
            route(request, body);
        } catch (Problem problem) {
            text(request, problem.status(), problem.getMessage() + "\n");
        } catch (Throwable broken) { // an error, too: Vert.x does not report what its workers throw
            failed(request, broken);
        }
    }

    void failed(HttpServerRequest request, Throwable broken) {
        LOG.log(Level.SEVERE, "no answer to " + request.uri(), broken);
        text(request, 500, broken + "\n");
    }

    private void route(HttpServerRequest request, Buffer body) {
        String root = application.contextRoot();
        if (request.path() == null || !request.path().startsWith(root + "/")) {
            throw nothingAt(request);
        }
        String path = request.path().substring(root.length());
        String asked = request.method() + " " + path;
        Probe probe = Probe.BY_PATH.get(path);
        if (probe != null && asked.startsWith(GET)) {
            json(request, 200, probe.answer(request::getParam));
            return;
        }
        switch (application) {
            case MP_PING -> ping(asked, request);
            case BANKING, BANK_SQL -> bank(asked, request, body);
            case PINNING -> pinning(path, request);
        }
    }

    private static Problem nothingAt(HttpServerRequest request) {
        return new Problem(404, "%s %s: nothing is here".formatted(request.method(), request.path()));
    }

    private static void ping(String asked, HttpServerRequest request) {
        if (!asked.equals("GET /ping")) {
            throw nothingAt(request);
        }
        text(request, 200, Ping.answer(request.getParam("burn_us")));
    }

    private static void bank(String asked, HttpServerRequest request, Buffer body) {
        String burnUs = request.getParam("burn_us");
        String order = request.getHeader(Business.ORDER);
        switch (asked) {
            case "GET /accounts" -> json(request, 200, BankJson.write(Endpoints.terms()));
            case "GET /audit" -> json(request, 200, BankJson.write(Endpoints.audit()));
            case "GET /servlet/forward" -> say(request, Endpoints.forward(burnUs, order));
            case "POST /servlet/transfers" -> say(request, Endpoints.transfer(transfer(body), burnUs, order));
            default -> {
                String rest = asked.startsWith(ACCOUNT) ? asked.substring(ACCOUNT.length()) : "";
                boolean statement = rest.endsWith(STATEMENT);
                String id = statement ? rest.substring(0, rest.length() - STATEMENT.length()) : rest;
                if (id.isEmpty() || id.contains("/")) {
                    throw nothingAt(request);
                }
                say(
                        request,
                        statement
                                ? Endpoints.statement(id, request.getParam("page"), request.getParam("size"), burnUs, order)
                                : Endpoints.balance(id, burnUs, order));
            }
        }
    }

    private static TransferRequest transfer(Buffer body) {
        return BankJson.read(new ByteArrayInputStream(body.getBytes()), TransferRequest.class);
    }

    private void pinning(String path, HttpServerRequest request) {
        if (!path.startsWith(LOADED)) {
            throw nothingAt(request);
        }
        String name = path.substring(LOADED.length() - 1);
        text(request, 200, pinning.answer(request.method().name(), name, request::getParam) + "\n");
    }

    private static void say(HttpServerRequest request, Answer answer) {
        request.response().putHeader(Business.BYTES, String.valueOf(answer.remoteBytes()));
        if (answer.body() instanceof byte[] bytes) {
            end(request, answer.status(), answer.contentType(), Buffer.buffer(bytes));
        } else {
            json(request, answer.status(), BankJson.write(answer.body()));
        }
    }

    private static void json(HttpServerRequest request, int status, String text) {
        end(request, status, JSON, Buffer.buffer(text));
    }

    private static void text(HttpServerRequest request, int status, String text) {
        end(request, status, TEXT, Buffer.buffer(text));
    }

    private static void end(HttpServerRequest request, int status, String contentType, Buffer body) {
        HttpServerResponse response = request.response().setStatusCode(status);
        response.putHeader(HttpHeaders.CONTENT_TYPE, contentType).end(body);
    }
}
