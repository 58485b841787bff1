package jdkmatrix.vertxserver;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.IntConsumer;
import jdkmatrix.embedded.EmbeddedServer;

/** A verticle with its share of the connections. It hands over each request that it has read completely. */
final class Listener extends VerticleBase {
    private static final Future<Buffer> NO_BODY = Future.succeededFuture(Buffer.buffer());

    private final Routes routes;
    private final Executor threads;
    private final int port;
    private final IntConsumer bound;

    /**
     * @param threads the executor of requests; empty: the worker pool of Vert.x
     * @param port where to listen; 0: any free port, the same for all of a deployment
     * @param bound receives the port
     */
    Listener(Routes routes, Optional<Executor> threads, int port, IntConsumer bound) {
        this.routes = routes;
        this.threads = threads.orElse(this::onWorker);
        this.port = port;
        this.bound = bound;
    }

    @Override
    public Future<?> start() {
        HttpServerOptions options = new HttpServerOptions()
                .setAcceptBacklog(EmbeddedServer.BACKLOG)
                .setHandle100ContinueAutomatically(true);
        return vertx.createHttpServer(options)
                .requestHandler(this::received)
                // Broken connections are the client's affair.
                .exceptionHandler(broken -> {})
                .listen(
                        port == 0
                                ? SocketAddress.sharedRandomPort(1, EmbeddedServer.HOST)
                                : SocketAddress.inetSocketAddress(port, EmbeddedServer.HOST))
                .onSuccess(server -> bound.accept(server.actualPort()));
    }

    private void received(HttpServerRequest request) {
        Future<Buffer> body = request.method().equals(HttpMethod.POST) ? request.body() : NO_BODY;
        body.onSuccess(whole -> handOver(request, whole));
    }

    private void handOver(HttpServerRequest request, Buffer body) {
        try {
            threads.execute(() -> routes.answer(request, body));
        } catch (Throwable refused) { // for example, no thread could be started
            routes.failed(request, refused);
        }
    }

    private void onWorker(Runnable task) {
        context.executeBlocking(
                () -> {
                    task.run();
                    return null;
                },
                false);
    }
}
