package jdkmatrix.helidonserver;

import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.util.function.Function;
import jdkmatrix.banking.Answer;
import jdkmatrix.banking.BankJson;
import jdkmatrix.banking.Business;
import jdkmatrix.banking.Endpoints;
import jdkmatrix.banking.TransferRequest;

/** The bank's {@link Endpoints} in Helidon's routing; those under load have the same paths as with Servlets. */
final class BankRouting {
    private static final HeaderName ORDER = HeaderNames.create(Business.ORDER);

    private BankRouting() {}

    static void add(String root, HttpRouting.Builder routing) {
        String loaded = root + "/servlet";
        routing.get(root + "/accounts", (request, response) ->
                HelidonServer.json(response, BankJson.write(Endpoints.terms())));
        routing.get(root + "/audit", (request, response) ->
                HelidonServer.json(response, BankJson.write(Endpoints.audit())));
        get(routing, loaded + "/accounts/{id}", request ->
                Endpoints.balance(id(request), of(request, "burn_us"), order(request)));
        get(routing, loaded + "/accounts/{id}/statement", request -> Endpoints.statement(
                id(request), of(request, "page"), of(request, "size"), of(request, "burn_us"), order(request)));
        get(routing, loaded + "/forward", request -> Endpoints.forward(of(request, "burn_us"), order(request)));
        routing.post(loaded + "/transfers", (request, response) -> {
            TransferRequest body = BankJson.read(request.content().inputStream(), TransferRequest.class);
            send(response, Endpoints.transfer(body, of(request, "burn_us"), order(request)));
        });
    }

    private static void get(HttpRouting.Builder routing, String path, Function<ServerRequest, Answer> endpoint) {
        routing.get(path, (request, response) -> send(response, endpoint.apply(request)));
    }

    private static void send(ServerResponse response, Answer answer) {
        response.status(answer.status()).header(Business.BYTES, String.valueOf(answer.remoteBytes()));
        if (answer.body() instanceof byte[] bytes) {
            HelidonServer.body(response, answer.contentType(), bytes);
        } else {
            HelidonServer.json(response, BankJson.write(answer.body()));
        }
    }

    private static String id(ServerRequest request) {
        return request.path().pathParameters().get("id");
    }

    private static String of(ServerRequest request, String name) {
        return HelidonServer.parameter(request, name);
    }

    private static String order(ServerRequest request) {
        return request.headers().first(ORDER).orElse(null);
    }
}
