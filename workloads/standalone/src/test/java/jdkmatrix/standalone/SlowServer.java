package jdkmatrix.standalone;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Answers every request after a delay, however many there are. */
record SlowServer(HttpServer server, ExecutorService executor) implements AutoCloseable {
    static SlowServer start(int delayMs, int status) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 2_000);
        ExecutorService executor = Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory());
        server.setExecutor(executor);
        server.createContext("/", exchange -> {
            try (exchange) {
                Thread.sleep(delayMs);
                exchange.sendResponseHeaders(status, -1);
            } catch (InterruptedException end) {
                Thread.currentThread().interrupt();
            }
        });
        server.start();
        return new SlowServer(server, executor);
    }

    String url() {
        return "http://127.0.0.1:%d/".formatted(server.getAddress().getPort());
    }

    @Override
    public void close() {
        server.stop(0);
        executor.shutdownNow();
    }
}
