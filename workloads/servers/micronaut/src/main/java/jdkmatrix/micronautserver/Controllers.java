package jdkmatrix.micronautserver;

import io.micronaut.context.annotation.Replaces;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.annotation.Nullable;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Header;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.Produces;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.http.server.exceptions.ExceptionHandler;
import io.micronaut.http.server.exceptions.JsonExceptionHandler;
import io.micronaut.json.JsonSyntaxException;
import jakarta.inject.Singleton;
import jdkmatrix.banking.Answer;
import jdkmatrix.banking.Audit;
import jdkmatrix.banking.BankJson;
import jdkmatrix.banking.Business;
import jdkmatrix.banking.Endpoints;
import jdkmatrix.banking.TransferRequest;
import jdkmatrix.mpping.Ping;
import jdkmatrix.serverprobes.Probe;
import jdkmatrix.serverprobes.Problem;

/** The applications as Micronaut controllers, with its own JSON; paths under load are the same as with Servlets. */
final class Controllers {
    private static final String TEXT = "text/plain;charset=utf-8";

    private Controllers() {}

    @Controller
    static class Probes {
        @Get("/whoami")
        String whoami(HttpRequest<?> asked) {
            return answer(asked, "/whoami");
        }

        @Get("/gauges")
        String gauges(HttpRequest<?> asked) {
            return answer(asked, "/gauges");
        }

        @Get("/burn")
        String burn(HttpRequest<?> asked) {
            return answer(asked, "/burn");
        }

        private static String answer(HttpRequest<?> asked, String path) {
            return Probe.BY_PATH.get(path).answer(asked.getParameters()::get);
        }
    }

    @Controller
    @Requires(property = MicronautServer.APPLICATION, value = "mp-ping")
    static class Pinged {
        @Get("/ping")
        @Produces(TEXT)
        String ping(@Nullable @QueryValue("burn_us") String burnUs) {
            return Ping.answer(burnUs);
        }
    }

    @Controller
    @Requires(property = MicronautServer.APPLICATION, pattern = "bank.*")
    static class BankEndpoints {
        @Get("/accounts")
        Endpoints.Terms terms() {
            return Endpoints.terms();
        }

        @Get("/audit")
        Audit audit() {
            return Endpoints.audit();
        }

        @Get("/servlet/accounts/{id}")
        HttpResponse<Object> balance(
                String id,
                @Nullable @QueryValue("burn_us") String burnUs,
                @Nullable @Header(Business.ORDER) String order) {
            return response(Endpoints.balance(id, burnUs, order));
        }

        @Get("/servlet/accounts/{id}/statement")
        HttpResponse<Object> statement(
                String id,
                @Nullable @QueryValue String page,
                @Nullable @QueryValue String size,
                @Nullable @QueryValue("burn_us") String burnUs,
                @Nullable @Header(Business.ORDER) String order) {
            return response(Endpoints.statement(id, page, size, burnUs, order));
        }

        @Post("/servlet/transfers")
        HttpResponse<Object> transfer(
                @Nullable @Body TransferRequest body,
                @Nullable @QueryValue("burn_us") String burnUs,
                @Nullable @Header(Business.ORDER) String order) {
            return response(Endpoints.transfer(body, burnUs, order));
        }

        @Get("/servlet/forward")
        HttpResponse<Object> forward(
                @Nullable @QueryValue("burn_us") String burnUs, @Nullable @Header(Business.ORDER) String order) {
            return response(Endpoints.forward(burnUs, order));
        }

        private static HttpResponse<Object> response(Answer answer) {
            MutableHttpResponse<Object> response = HttpResponse.status(HttpStatus.valueOf(answer.status()));
            response.header(Business.BYTES, String.valueOf(answer.remoteBytes())).body(answer.body());
            return answer.contentType() == null ? response : response.contentType(answer.contentType());
        }
    }

    @Controller("/servlet")
    @Requires(property = MicronautServer.APPLICATION, value = "pinning")
    @Produces(TEXT)
    static class PinningEndpoints {
        private final jdkmatrix.pinning.Endpoints endpoints = new jdkmatrix.pinning.Endpoints();

        @Get("/{name}")
        String get(HttpRequest<?> asked, String name) {
            return answer(asked, name);
        }

        @Post("/{name}")
        String post(HttpRequest<?> asked, String name) {
            return answer(asked, name);
        }

        private String answer(HttpRequest<?> asked, String name) {
            return endpoints.answer(asked.getMethodName(), "/" + name, asked.getParameters()::get) + "\n";
        }
    }

    /** Turns a {@link Problem} into the answer of a controller. */
    @Singleton
    static class Problems implements ExceptionHandler<Problem, HttpResponse<String>> {
        @Override
        public HttpResponse<String> handle(@SuppressWarnings("rawtypes") HttpRequest asked, Problem problem) {
            return HttpResponse.<String>status(HttpStatus.valueOf(problem.status()))
                    .contentType(TEXT)
                    .body(problem.getMessage() + "\n");
        }
    }

    /** Reports a body that is not the expected JSON in one line; Micronaut would report it in its own JSON. */
    @Singleton
    @Replaces(JsonExceptionHandler.class)
    static class UnreadableBody implements ExceptionHandler<JsonSyntaxException, HttpResponse<String>> {
        private final Problems problems = new Problems();

        @Override
        public HttpResponse<String> handle(@SuppressWarnings("rawtypes") HttpRequest asked, JsonSyntaxException problem) {
            return problems.handle(asked, BankJson.unreadable(problem));
        }
    }
}
