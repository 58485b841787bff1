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
 * Asks for some answers before it is said that they can be had. A JVM that gives its first answers loads classes
 * meanwhile, and those answers would be a tenth of a second late.
 */
final class Rehearsal {
    private static final long AT_MOST_NS = TimeUnit.MILLISECONDS.toNanos(2_000);
    private static final int TIMEOUT_MS = 5_000;
    /** Enough for the JVM to compile what they use. */
    private static final int ROUNDS = 40;
    private static final int CONNECTIONS = 64;
    private static final int REQUESTS_EACH = 10;
    private static final String ANSWER = "/answer?delay_us=500&fault=none&spread=fixed";
    /** Last: a period that begins here has nothing of the rehearsal in it. */
    private static final String END = "/stats?reset=true";

    private Rehearsal() {}

    /** Failing to rehearse is no reason not to play: it is told on standard error. */
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

    /** New connections, and some requests on each, on all at the same time. */
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
        InputStream in = new BufferedInputStream(socket.getInputStream()); // one answer at most is there to be read
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
