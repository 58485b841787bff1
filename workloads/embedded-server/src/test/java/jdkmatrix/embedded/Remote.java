package jdkmatrix.embedded;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The bank's remote system: answers no call before the agreed number of calls has come. */
final class Remote implements AutoCloseable {
    static final String ANSWER = "{\"from\": \"afar\"}";

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final HttpServer server;

    Remote(int calls) throws IOException {
        CountDownLatch together = new CountDownLatch(calls);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), calls);
        server.setExecutor(threads);
        server.createContext("/answer", exchange -> {
            together.countDown();
            try {
                together.await();
            } catch (InterruptedException closed) {
                Thread.currentThread().interrupt();
            }
            byte[] body = ANSWER.getBytes(StandardCharsets.US_ASCII);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    /** Returns the system properties that the server process needs. */
    String[] properties() {
        return new String[] {
            "-Djdkmatrix.remote.url=http://127.0.0.1:" + server.getAddress().getPort() + "/answer",
            "-Djdkmatrix.remote.client=socket",
            "-Djdkmatrix.banking.accounts=100",
            "-Djdkmatrix.burn.rounds_per_us=10"
        };
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
