package jdkmatrix.banking;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import jdkmatrix.banking.RemoteSystem.Client;
import jdkmatrix.serverprobes.Problem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RemoteSystemTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int CALLERS = 500;

    static {
        // By default the server closes idle connections beyond 200.
        System.setProperty("sun.net.httpserver.maxIdleConnections", String.valueOf(2 * CALLERS));
    }

    private final AtomicInteger calls = new AtomicInteger();
    private final Set<InetSocketAddress> connections = ConcurrentHashMap.newKeySet();
    private final CountDownLatch end = new CountDownLatch(1);
    private final CountDownLatch atTheGate = new CountDownLatch(CALLERS);
    private final CountDownLatch gate = new CountDownLatch(1);
    private ExecutorService threads;
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        threads = Executors.newVirtualThreadPerTaskExecutor();
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_000);
        server.setExecutor(threads);
        server.createContext("/answer", this::answer);
        server.start();
    }

    @AfterEach
    void stop() {
        end.countDown();
        gate.countDown();
        server.stop(0);
        threads.close();
    }

    private void answer(HttpExchange exchange) throws IOException {
        calls.incrementAndGet();
        connections.add(exchange.getRemoteAddress());
        String query = exchange.getRequestURI().getRawQuery();
        try {
            if (query.contains("fault=never")) {
                end.await();
            }
            if (query.contains("wait=gate")) {
                atTheGate.countDown();
                gate.await();
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        if (!query.contains("fault=close") && !query.contains("fault=never")) {
            byte[] body = (exchange.getRequestMethod() + " " + query).getBytes(StandardCharsets.US_ASCII);
            exchange.getResponseHeaders().set("Content-Type", "text/plain");
            exchange.sendResponseHeaders(query.contains("fault=status-500") ? 500 : 200, body.length);
            exchange.getResponseBody().write(body);
        }
        exchange.close();
    }

    private RemoteSystem remote(Client client, Duration timeout) {
        return client.of(
                URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/answer?delay_us=1"), timeout);
    }

    private static Problem problem(RemoteSystem remote, String order) {
        Problem problem = assertThrows(Problem.class, () -> remote.call(order));
        assertEquals(1, problem.getMessage().lines().count());
        return problem;
    }

    @ParameterizedTest
    @EnumSource
    void anAnswerIsReadWhole(Client client) {
        Reply reply = remote(client, LONG).call(null);
        assertEquals("text/plain", reply.contentType());
        assertArrayEquals("POST delay_us=1".getBytes(StandardCharsets.US_ASCII), reply.body());
        assertEquals(
                "POST delay_us=2&size_bytes=5",
                new String(remote(client, LONG).call("size_bytes=5&delay_us=2").body(), StandardCharsets.US_ASCII));
    }

    /** Each fault is on a kept-alive connection, where the client would repeat a GET, and each is one call. */
    @ParameterizedTest
    @EnumSource
    void eachFaultIsOneCallAndOneLine(Client client) {
        RemoteSystem remote = remote(client, LONG);
        for (String fault : List.of("status-500", "close")) {
            remote.call(null);
            calls.set(0);
            Problem problem = problem(remote, "fault=" + fault);
            assertEquals(502, problem.status());
            assertEquals(1, calls.get(), fault);
            assertTrue(
                    problem.getMessage()
                            .startsWith(
                                    fault.equals("close")
                                            ? "the connection to the remote system broke: "
                                            : "the remote system answered with status 500: \"POST delay_us=1"),
                    problem.getMessage());
        }
        remote.call(null);
    }

    @ParameterizedTest
    @EnumSource
    void noAnswerInTimeIsAGatewayTimeout(Client client) {
        Problem problem = problem(remote(client, Duration.ofMillis(50)), "fault=never");
        assertEquals(504, problem.status());
        assertEquals("the remote system gave no answer within 50 ms", problem.getMessage());
    }

    @ParameterizedTest
    @EnumSource
    void nobodyListensIsABadGateway(Client client) throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Problem problem = problem(client.of(URI.create("http://127.0.0.1:" + port + "/answer"), LONG), null);
        assertEquals(502, problem.status());
        assertEquals("the remote system cannot be reached at 127.0.0.1:" + port, problem.getMessage());
    }

    @ParameterizedTest
    @EnumSource
    void aCallThatIsInterruptedEndsAndKeepsTheInterrupt(Client client) throws Exception {
        RemoteSystem remote = remote(client, LONG);
        boolean[] interrupted = new boolean[1];
        Thread caller = Thread.ofVirtual().start(() -> {
            Thread.currentThread().interrupt();
            assertEquals(503, problem(remote, "fault=never").status());
            interrupted[0] = Thread.currentThread().isInterrupted();
        });
        caller.join();
        assertTrue(interrupted[0]);
    }

    /** As many connections as concurrent calls, and they are reused; the client itself has three threads, or none. */
    @ParameterizedTest
    @EnumSource
    void connectionsAreKeptAndThreadsAreFew(Client client) throws Exception {
        long before = clientThreads();
        RemoteSystem remote = remote(client, LONG);
        for (String order : Arrays.asList("wait=gate", null, null)) {
            List<Future<Reply>> replies = new ArrayList<>();
            for (int call = 0; call < CALLERS; call++) {
                replies.add(threads.submit(() -> remote.call(order)));
            }
            if (order != null) {
                atTheGate.await();
                gate.countDown();
            }
            for (Future<Reply> reply : replies) {
                reply.get();
            }
            assertTrue(clientThreads() - before <= (client == Client.SOCKET ? 0 : 3), "threads: " + (clientThreads() - before));
        }
        assertEquals(3 * CALLERS, calls.get());
        // Exactly CALLERS, but a connection may be kept a moment after its caller has the answer. Unkept: 3 * CALLERS.
        assertTrue(connections.size() < 2 * CALLERS, "connections: " + connections.size());
    }

    /** A thread that blocks on the socket itself must be woken by the interrupt, not by the answer. */
    @Test
    void aVirtualThreadThatReadsIsInterrupted() throws Exception {
        RemoteSystem remote = remote(Client.SOCKET, LONG);
        Problem[] found = new Problem[1];
        Thread caller = Thread.ofVirtual().start(() -> found[0] = problem(remote, "wait=gate"));
        while (atTheGate.getCount() == CALLERS) {
            Thread.onSpinWait();
        }
        caller.interrupt();
        caller.join();
        assertEquals(503, found[0].status());
    }

    private static long clientThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("HttpClient-") || name.startsWith("banking-remote-"))
                .count();
    }
}
