package jdkmatrix.loadgen;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * Runs both kinds of load against a server of its own before the first phase. A JVM that sends its first requests
 * spends a fifth of a second loading classes, and the requests that wait for it would be part of the first phase.
 */
final class Rehearsal {
    private static final double EACH_S = 0.3;
    private static final int RATE_RPS = 2_000;
    private static final int CONNECTIONS = 2;
    private static final byte[] ANSWER =
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok".getBytes(StandardCharsets.US_ASCII);

    private Rehearsal() {}

    /** Runs the rehearsal. A failure does not prevent the phases: it is only reported on standard error. */
    static void play() throws InterruptedException {
        try (ServerSocket server = new ServerSocket(0, CONNECTIONS, InetAddress.getLoopbackAddress())) {
            Thread.ofPlatform().name("rehearsal-accept").daemon().start(() -> accept(server));
            Target target = Target.parse("http://127.0.0.1:%d/".formatted(server.getLocalPort()));
            try (Engine engine = new Engine(target, 1, Limits.of(1_000, 0))) {
                for (Load load : new Load[] {
                    new Load.Saturate(CONNECTIONS), new Load.Rate(RATE_RPS, CONNECTIONS)
                }) {
                    Wire.write(Wire.finished(engine.run(Phase.of("rehearsal", load, EACH_S), new Unheard()), null));
                }
            }
        } catch (IOException | RefusedException | IllegalStateException e) {
            System.err.println("loadgen: no rehearsal: " + e.getMessage());
        }
    }

    private static void accept(ServerSocket server) {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                Thread.ofPlatform().name("rehearsal-answer").daemon().start(() -> answer(socket));
            } catch (IOException e) {
                return; // closed: the rehearsal is over
            }
        }
    }

    private static void answer(Socket socket) {
        try (socket;
                InputStream in = new BufferedInputStream(socket.getInputStream());
                OutputStream out = socket.getOutputStream()) {
            socket.setTcpNoDelay(true);
            int newlines = 0;
            for (int c = in.read(); c != -1; c = in.read()) {
                newlines = c == '\n' ? newlines + 1 : c == '\r' ? newlines : 0;
                if (newlines == 2) {
                    out.write(ANSWER);
                }
            }
        } catch (IOException e) {
            // The other end is gone: the rehearsal is over.
        }
    }
}
