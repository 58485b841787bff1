package jdkmatrix.remote;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import jdkmatrix.common.process.TimerSlack;

/**
 * One event loop with its share of the connections; everything runs on it.
 *
 * <p>Vert.x's timers count milliseconds, so answers are scheduled on Netty's own event loop, in nanoseconds. HTTP/1.1
 * answers requests that are pipelined on one connection one after the other: Vert.x hands each over, and its delay
 * begins, when the one before it has been answered.
 */
final class EventLoopServer extends VerticleBase {
    private static final String HOST = "127.0.0.1";
    /** Capped by the kernel at its own limit; a burst of connections beyond it waits for a second. */
    private static final int BACKLOG = 16_384;
    /** Often enough to catch most stalls that a measurement would notice, at a few thousandths of a CPU. */
    private static final long OWN_TIMER_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final String JSON = "application/json";
    private static final String TEXT = "text/plain; charset=utf-8";

    private final Ledger ledger;
    private final Draws draws;
    private final int port;
    private final IntConsumer bound;
    private final Bodies bodies = new Bodies();
    private EventLoop loop;

    /**
     * @param port where to listen; 0: any free port, the same for all loops
     * @param bound receives the port
     */
    EventLoopServer(Ledger ledger, Draws draws, int port, IntConsumer bound) {
        this.ledger = ledger;
        this.draws = draws;
        this.port = port;
        this.bound = bound;
    }

    @Override
    public Future<?> start() {
        TimerSlack.minimise(kept -> System.err.println("remote: " + kept));
        loop = ((ContextInternal) context).nettyEventLoop();
        watch();
        HttpServerOptions options = new HttpServerOptions()
                .setAcceptBacklog(BACKLOG)
                .setTcpNoDelay(true)
                .setHttp2ClearTextEnabled(false)
                .setHandle100ContinueAutomatically(true);
        return vertx.createHttpServer(options)
                .requestHandler(request -> request.endHandler(end -> received(request, System.nanoTime())))
                // Broken connections are the client's affair; their requests are counted as abandoned.
                .exceptionHandler(broken -> {})
                .listen(
                        port == 0
                                ? SocketAddress.sharedRandomPort(1, HOST)
                                : SocketAddress.inetSocketAddress(port, HOST))
                .onSuccess(server -> bound.accept(server.actualPort()));
    }

    private void watch() {
        long dueNs = System.nanoTime() + OWN_TIMER_NS;
        loop.schedule(
                () -> {
                    ledger.loopRan(System.nanoTime() - dueNs);
                    watch();
                },
                OWN_TIMER_NS,
                TimeUnit.NANOSECONDS);
    }

    private void received(HttpServerRequest request, long receivedNs) {
        try {
            switch (request.path()) {
                case "/answer" -> {
                    if (allows(request, HttpMethod.GET, HttpMethod.POST)) {
                        new Pending(request, Order.parse(Parameters.of(request)), receivedNs).schedule();
                    }
                }
                case "/stats" -> {
                    if (allows(request, HttpMethod.GET)) {
                        stats(request.response(), Order.parseReset(Parameters.of(request)));
                    }
                }
                case "/delay" -> {
                    if (allows(request, HttpMethod.POST)) {
                        draws.atMost(Order.parseLongestNs(Parameters.of(request)));
                        request.response().setStatusCode(204).end();
                    }
                }
                case null, default -> say(request.response(), 404, "only /answer, /stats and /delay are here");
            }
        } catch (BadRequestException e) {
            ledger.refused();
            say(request.response(), 400, e.getMessage());
        }
    }

    /** Sends the figures. Summing them up takes longer than an answer may wait, so another thread does it. */
    private void stats(HttpServerResponse response, boolean reset) {
        vertx.executeBlocking(() -> ledger.read(reset).toJson().toBuffer())
                .onSuccess(json -> response.putHeader(HttpHeaders.CONTENT_TYPE, JSON).end(json))
                .onFailure(e -> say(response, 500, "the figures cannot be told: " + e));
    }

    private static boolean allows(HttpServerRequest request, HttpMethod... methods) {
        String allowed = "";
        for (HttpMethod method : methods) {
            if (request.method().equals(method)) {
                return true;
            }
            allowed += (allowed.isEmpty() ? "" : ", ") + method;
        }
        request.response().putHeader(HttpHeaders.ALLOW, allowed);
        say(request.response(), 405, "%s %s: %s is allowed".formatted(request.method(), request.path(), allowed));
        return false;
    }

    private static void say(HttpServerResponse response, int status, String message) {
        response.setStatusCode(status).putHeader(HttpHeaders.CONTENT_TYPE, TEXT).end(message + "\n");
    }

    /** A request that was received and has not been answered. */
    private final class Pending implements Runnable {
        private final HttpServerRequest request;
        private final Order order;
        private final long dueNs;
        private ScheduledFuture<?> timer;
        private boolean over;

        Pending(HttpServerRequest request, Order order, long receivedNs) throws BadRequestException {
            this.request = request;
            this.order = order;
            dueNs = receivedNs + draws.delayNs(order);
        }

        void schedule() {
            ledger.received(order.fault());
            request.response().closeHandler(closed -> abandon());
            if (order.fault() != Fault.NEVER) {
                timer = loop.schedule(this, dueNs - System.nanoTime(), TimeUnit.NANOSECONDS);
            }
        }

        @Override
        public void run() {
            over = true;
            ledger.due();
            switch (order.fault()) {
                case NONE -> end(200, bodies.of(order.sizeBytes()));
                case STATUS_500 -> end(500, bodies.error());
                case CLOSE -> request.connection().close();
                case NEVER -> throw new IllegalStateException("never is not scheduled");
            }
            ledger.done(order.fault(), System.nanoTime() - dueNs);
        }

        /** Cancels the timer of a client that has gone, or it would hold the request until it is due. */
        private void abandon() {
            if (over) {
                return;
            }
            over = true;
            if (timer != null) {
                timer.cancel(false);
            }
            ledger.abandoned();
        }

        private void end(int status, Buffer body) {
            request.response().setStatusCode(status).putHeader(HttpHeaders.CONTENT_TYPE, JSON).end(body);
        }
    }
}
