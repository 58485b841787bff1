import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

/**
 * An application of somebody else: it serves /items by a pool, or by virtual threads where the system property virtual is true. Its first
 * argument is the port, the second the address, the third what is wrong with it: ignores-the-switch, never-listens, ends-at-once.
 */
public final class OwnApplication {
    private static final long SLOW_NS = 200_000_000;

    public static void main(String[] arguments) throws IOException, InterruptedException {
        String wrong = arguments.length > 2 ? arguments[2] : "";
        if (wrong.equals("ends-at-once")) {
            throw new IllegalStateException("no licence");
        }
        if (wrong.equals("never-listens")) {
            new CountDownLatch(1).await();
        }
        boolean virtual = Boolean.getBoolean("virtual") && !wrong.equals("ignores-the-switch");
        ExecutorService executor = virtual
            ? Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("on-", 1).factory())
            : Executors.newFixedThreadPool(8);
        HttpServer server = HttpServer.create(new InetSocketAddress(arguments[1], Integer.parseInt(arguments[0])), 100);
        server.setExecutor(executor);
        server.createContext("/items", exchange -> answer(exchange, 200, "item " + exchange.getRequestURI().getQuery()));
        server.createContext("/slow", exchange -> {
            LockSupport.parkNanos(SLOW_NS);
            answer(exchange, 200, "late");
        });
        server.createContext("/broken", exchange -> answer(exchange, 500, "no database"));
        server.start();
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes();
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private OwnApplication() {}
}
