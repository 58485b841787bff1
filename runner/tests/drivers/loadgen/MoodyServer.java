import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * An HTTP/1.1 server on loopback that behaves badly on demand: a thread per connection, moods as key=value arguments;
 * mood=A,B,… strike in turn.
 *
 * <p>Prints "port N" when it listens. For each line of its standard input, and at the end of it, before it ends, it prints
 * one line of JSON with what it saw, in System.nanoTime: {"connections": N, "answers": [[connection, arrived, answered], ...]},
 * connections numbered from 0 in the order in which they were accepted, answered = 0 where it gave no answer. A line with
 * moods makes it begin anew, with these moods and no request seen.
 */
public final class MoodyServer {
    private static final Map<String, Long> MOODS = new ConcurrentHashMap<>(Map.of(
            "port", 0L,
            "delay_us", 0L, // before every answer
            "freeze_at_ms", -1L, // after the first request: nobody gets an answer ...
            "freeze_ms", 0L, // ... for so long
            "serial_us", 0L, // one request at a time, each this long
            "mood_every", 1L)); // requests, counted over all connections, until the mood strikes

    private static final String BODY = "pong";
    private static final String KIND = "Content-Type: text/plain\r\n";
    private static final String PLAIN = "HTTP/1.1 200 OK\r\n" + KIND + "Content-Length: 4\r\n\r\n" + BODY;
    private static final AtomicLong REQUESTS = new AtomicLong();
    private static final AtomicLong FIRST_NS = new AtomicLong();
    private static final ReentrantLock TURN = new ReentrantLock(true);
    private static final List<List<long[]>> SEEN = new ArrayList<>();

    private static volatile List<String> moods = List.of("none");

    public static void main(String[] args) throws IOException {
        begin(args);
        ServerSocket server = new ServerSocket(MOODS.get("port").intValue(), 1024, InetAddress.getLoopbackAddress());
        System.out.println("port " + server.getLocalPort());
        Thread.ofPlatform().daemon().start(() -> accept(server));
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            if (!order.isEmpty()) {
                begin(order.split(" "));
            }
            report();
        }
        report();
        Runtime.getRuntime().halt(0);
    }

    private static void begin(String[] args) {
        synchronized (SEEN) {
            SEEN.forEach(List::clear);
        }
        REQUESTS.set(0);
        FIRST_NS.set(0);
        for (String arg : args) {
            String[] pair = arg.split("=", 2);
            if (pair[0].equals("mood")) {
                moods = List.of(pair[1].split(","));
            } else if (MOODS.replace(pair[0], Long.valueOf(pair[1])) == null) {
                throw new IllegalArgumentException("no such key: " + arg);
            }
        }
    }

    private static void accept(ServerSocket server) {
        try {
            while (true) {
                Socket socket = server.accept();
                List<long[]> seen = new ArrayList<>();
                int connection;
                synchronized (SEEN) {
                    connection = SEEN.size();
                    SEEN.add(seen);
                }
                Thread.ofPlatform().daemon().stackSize(256 * 1024).start(() -> serve(socket, connection, seen));
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void serve(Socket socket, int connection, List<long[]> seen) {
        try (socket;
                InputStream in = new BufferedInputStream(socket.getInputStream());
                OutputStream out = socket.getOutputStream()) {
            socket.setTcpNoDelay(true);
            while (awaitRequest(in)) {
                long[] request = {connection, System.nanoTime(), 0};
                synchronized (SEEN) {
                    seen.add(request);
                }
                FIRST_NS.compareAndSet(0, request[1]);
                long number = REQUESTS.incrementAndGet();
                long every = MOODS.get("mood_every");
                String how = number % every == 0 ? moods.get((int) (number / every % moods.size())) : "none";
                work();
                if (!answer(how, socket, out, request)) {
                    return;
                }
            }
        } catch (IOException e) {
            // The driver has closed it.
        }
    }

    private static boolean awaitRequest(InputStream in) throws IOException {
        int newlines = 0;
        while (newlines < 2) {
            int c = in.read();
            if (c == -1) {
                return false;
            }
            newlines = c == '\n' ? newlines + 1 : c == '\r' ? newlines : 0;
        }
        return true;
    }

    private static void work() {
        awaitThaw();
        sleepUntil(System.nanoTime() + MOODS.get("delay_us") * 1000);
        if (MOODS.get("serial_us") > 0) {
            TURN.lock();
            try {
                sleepUntil(System.nanoTime() + MOODS.get("serial_us") * 1000);
            } finally {
                TURN.unlock();
            }
        }
        awaitThaw();
    }

    private static void awaitThaw() {
        if (MOODS.get("freeze_at_ms") >= 0) {
            long freezeNs = FIRST_NS.get() + MOODS.get("freeze_at_ms") * 1_000_000;
            if (System.nanoTime() >= freezeNs) {
                sleepUntil(freezeNs + MOODS.get("freeze_ms") * 1_000_000);
            }
        }
    }

    private static void sleepUntil(long ns) {
        for (long left = ns - System.nanoTime(); left > 0; left = ns - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** Returns whether the connection stays. */
    private static boolean answer(String how, Socket socket, OutputStream out, long[] request) throws IOException {
        String text = switch (how) {
            case "none", "hang-up" -> PLAIN;
            case "status-503" -> "HTTP/1.1 503 Service Unavailable\r\n" + KIND + "Content-Length: 4\r\n\r\n" + BODY;
            case "say-close" -> "HTTP/1.1 200 OK\r\nConnection: close\r\n" + KIND + "Content-Length: 4\r\n\r\n" + BODY;
            case "until-close" -> "HTTP/1.1 200 OK\r\nConnection: close\r\n" + KIND + "\r\n" + BODY;
            case "chunked" -> "HTTP/1.1 200 OK\r\n" + KIND + "Transfer-Encoding: chunked\r\n\r\n2\r\npo\r\n2\r\nng\r\n0\r\n\r\n";
            case "interim" -> "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + PLAIN;
            case "long-head" -> "HTTP/1.1 200 OK\r\nSet-Cookie: " + "c".repeat(100_000) + "\r\n" + KIND
                    + "Content-Length: 4\r\n\r\n" + BODY;
            case "empty" -> "HTTP/1.1 204 No Content\r\n\r\n";
            case "truncated" -> "HTTP/1.1 200 OK\r\n" + KIND + "Content-Length: 40\r\n\r\n" + BODY;
            case "garbage" -> "this is not HTTP\r\n\r\n";
            case "silence", "fin", "reset" -> null;
            default -> throw new IllegalArgumentException("no such mood: " + how);
        };
        if (text != null) {
            request[2] = System.nanoTime();
            out.write(text.getBytes(StandardCharsets.US_ASCII));
        }
        if (how.equals("reset")) {
            socket.setSoLinger(true, 0);
        }
        return switch (how) {
            case "fin", "reset", "hang-up", "say-close", "until-close", "truncated" -> false;
            default -> true;
        };
    }

    private static void report() {
        StringBuilder json = new StringBuilder("{\"answers\": [");
        String separator = "";
        synchronized (SEEN) {
            for (List<long[]> connection : SEEN) {
                for (long[] r : connection) {
                    json.append(separator).append('[').append(r[0]).append(", ").append(r[1]).append(", ").append(r[2]).append(']');
                    separator = ", ";
                }
            }
            System.out.println(json.append("], \"connections\": ").append(SEEN.size()).append('}'));
        }
    }
}
