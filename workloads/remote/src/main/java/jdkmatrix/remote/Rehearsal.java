package jdkmatrix.remote;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Requests some answers before the server reports that it is ready. A JVM loads classes while it gives its first
 * answers, which would be a tenth of a second late.
 */
final class Rehearsal {
    private static final long AT_MOST_NS = TimeUnit.MILLISECONDS.toNanos(2_000);
    private static final int TIMEOUT_MS = 5_000;
    /** Enough for the JVM to compile the code involved. */
    private static final int ROUNDS = 40;
    private static final int CONNECTIONS = 64;
    private static final int REQUESTS_EACH = 10;
    private static final String ANSWER = "/answer?delay_us=500&fault=none&spread=fixed";
    /** Sent last: a period that begins here has nothing of the rehearsal in it. */
    private static final String END = "/stats?reset=true";

    private Rehearsal() {}

    /** Plays the rehearsal. A failure is no reason not to serve: it is reported on standard error. */
    static void play(int port) {
        try {
            long untilNs = System.nanoTime() + AT_MOST_NS;
            for (int i = 0; i < ROUNDS && System.nanoTime() < untilNs; i++) {
                round(port, ANSWER, CONNECTIONS, REQUESTS_EACH);
                round(port, "/stats", 1, 1);
            }
            round(port, END, 1, 1);
        } catch (IOException e) {
            System.err.println("remote: no rehearsal: " + e.getMessage());
        }
    }

    /** Opens new connections and sends some requests on each, on all of them at the same time. */
    private static void round(int port, String target, int connections, int requests) throws IOException {
        List<Socket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < connections; i++) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
                sockets.add(socket);
                socket.setTcpNoDelay(true);
                socket.setSoTimeout(TIMEOUT_MS);
            }
            for (int i = 0; i < requests; i++) {
                for (Socket socket : sockets) {
                    ask(socket, target);
                }
                for (Socket socket : sockets) {
                    hear(socket);
                }
            }
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }

    private static void ask(Socket socket, String target) throws IOException {
        socket.getOutputStream()
                .write("GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".formatted(target).getBytes(StandardCharsets.US_ASCII));
    }

    private static void hear(Socket socket) throws IOException {
        InputStream in = new BufferedInputStream(socket.getInputStream()); // at most one answer is waiting to be read
        int length = 0;
        String line = line(in);
        if (!line.contains(" 200 ")) {
            throw new IOException("unexpected answer: " + line);
        }
        for (line = line(in); !line.isEmpty(); line = line(in)) {
            if (line.startsWith("content-length: ")) {
                length = Integer.parseInt(line.substring("content-length: ".length()));
            }
        }
        in.skipNBytes(length);
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c == -1) {
                throw new IOException("the connection was closed");
            }
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }
}
