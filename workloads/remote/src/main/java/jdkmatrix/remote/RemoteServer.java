package jdkmatrix.remote;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** The server: a number of event loops that share one port of 127.0.0.1. */
final class RemoteServer implements AutoCloseable {
    private static final long START_S = 30;
    private static final long CLOSE_S = 10;

    private final Vertx vertx;
    private final int port;

    private RemoteServer(Vertx vertx, int port) {
        this.vertx = vertx;
        this.port = port;
    }

    /**
     * Starts the server and returns once it accepts connections.
     *
     * @param port 0: any free port
     * @throws IllegalStateException when it cannot listen; the message says why
     */
    static RemoteServer start(int port, int threads) throws InterruptedException {
        Vertx vertx = Vertx.vertx(new VertxOptions()
                .setPreferNativeTransport(true)
                .setEventLoopPoolSize(threads)
                // Serves only /stats.
                .setWorkerPoolSize(1)
                // A loop that is held up shows in the lateness.
                .setBlockedThreadCheckIntervalUnit(TimeUnit.DAYS)
                .setBlockedThreadCheckInterval(1)
                .setFileSystemOptions(new FileSystemOptions()
                        .setClassPathResolvingEnabled(false)
                        .setFileCachingEnabled(false)));
        try {
            if (!vertx.isNativeTransportEnabled()) {
                throw new IllegalStateException(
                        "Netty's native epoll transport is needed (Linux on x86_64 or aarch64): "
                                + vertx.unavailableNativeTransportCause());
            }
            Ledger ledger = new Ledger();
            Draws draws = new Draws();
            AtomicInteger bound = new AtomicInteger();
            // One deployment for all: only then do they share the free port that one of them finds.
            await(
                    vertx.deployVerticle(
                            () -> new EventLoopServer(ledger, draws, port, bound::set),
                            new DeploymentOptions().setInstances(threads)),
                    START_S,
                    "127.0.0.1:%d cannot be bound".formatted(port));
            return new RemoteServer(vertx, bound.get());
        } catch (IllegalStateException e) {
            vertx.close();
            throw e;
        }
    }

    int port() {
        return port;
    }

    @Override
    public void close() {
        try {
            await(vertx.close(), CLOSE_S, "the server does not end");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void await(Future<?> future, long seconds, String problem) throws InterruptedException {
        try {
            future.toCompletionStage().toCompletableFuture().get(seconds, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new IllegalStateException(problem + ": " + e.getCause().getMessage(), e.getCause());
        } catch (TimeoutException e) {
            throw new IllegalStateException("%s: nothing happens for %d s".formatted(problem, seconds), e);
        }
    }
}
