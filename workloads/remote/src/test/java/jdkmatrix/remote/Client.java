package jdkmatrix.remote;

import io.vertx.core.json.JsonObject;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.function.Predicate;

/** One connection, read and written by hand. */
final class Client implements AutoCloseable {
    record Answer(int status, String head, String body, long atNs) {}

    private static final int TIMEOUT_MS = 600_000;
    private final Socket socket;
    private final InputStream in;

    Client(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MS);
        in = new BufferedInputStream(socket.getInputStream());
    }

    static Answer get(int port, String target) throws IOException {
        try (Client client = new Client(port)) {
            return client.get(target);
        }
    }

    static JsonObject stats(int port) throws IOException {
        return new JsonObject(get(port, "/stats").body());
    }

    /** Returns the figures as soon as they satisfy {@code wish}, or as they are after ten minutes. */
    static JsonObject statsWhen(int port, Predicate<JsonObject> wish) throws IOException, InterruptedException {
        JsonObject stats = stats(port);
        for (int i = 0; i < 60_000 && !wish.test(stats); i++) {
            Thread.sleep(10);
            stats = stats(port);
        }
        return stats;
    }

    Answer get(String target) throws IOException {
        send("GET " + target + " HTTP/1.1\r\nHost: remote\r\n\r\n");
        return receive();
    }

    void send(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    void timeoutMs(int ms) throws IOException {
        socket.setSoTimeout(ms);
    }

    /** @throws EOFException when the connection was closed */
    Answer receive() throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.length() < 4 || !head.substring(head.length() - 4).equals("\r\n\r\n")) {
            int c = in.read();
            if (c == -1) {
                throw new EOFException("closed after: " + head);
            }
            head.append((char) c);
        }
        long atNs = System.nanoTime();
        int length = 0;
        for (String line : head.toString().split("\r\n")) {
            if (line.toLowerCase().startsWith("content-length:")) {
                length = Integer.parseInt(line.substring("content-length:".length()).trim());
            }
        }
        String body = new String(in.readNBytes(length), StandardCharsets.UTF_8);
        return new Answer(Integer.parseInt(head.substring(9, 12)), head.toString(), body, atNs);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
