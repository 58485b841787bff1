package jdkmatrix.embedded;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One connection, kept as long as the server keeps it: some close it after the answer to a bad request. */
final class Client implements AutoCloseable {
    record Answer(int status, String head, String body) {
        JsonObject json() {
            try (JsonReader reader = Json.createReader(new StringReader(body))) {
                return reader.readObject();
            }
        }

        /** Returns null if there is no such header. */
        String header(String name) {
            Matcher line = Pattern.compile("(?im)^" + name + ": (.*)$").matcher(head);
            return line.find() ? line.group(1).strip() : null;
        }
    }

    private final int port;
    private Socket socket;
    private InputStream in;
    private boolean closed;

    Client(int port) throws IOException {
        this.port = port;
        connect();
    }

    private void connect() throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        in = new BufferedInputStream(socket.getInputStream());
        closed = false;
    }

    static String getOf(String target) {
        return "GET " + target + " HTTP/1.1\r\nHost: server\r\n\r\n";
    }

    static String postOf(String target, String body) {
        return "POST %s HTTP/1.1\r\nHost: server\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                .formatted(target, body.length(), body);
    }

    Answer get(String target) throws IOException {
        send(getOf(target));
        return receive();
    }

    Answer post(String target, String body) throws IOException {
        send(postOf(target, body));
        return receive();
    }

    /** Sends one or more requests in one piece. */
    void send(String requests) throws IOException {
        if (closed) {
            socket.close();
            connect();
        }
        socket.getOutputStream().write(requests.getBytes(StandardCharsets.US_ASCII));
    }

    Answer receive() throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.lastIndexOf("\r\n\r\n") < 0) {
            int c = in.read();
            if (c == -1) {
                throw new EOFException("closed after: " + head);
            }
            head.append((char) c);
        }
        Answer answer = new Answer(Integer.parseInt(head.substring(9, 12)), head.toString(), "");
        closed = "close".equalsIgnoreCase(answer.header("Connection"));
        byte[] body = "chunked".equalsIgnoreCase(answer.header("Transfer-Encoding"))
                ? chunks()
                : in.readNBytes(Integer.parseInt(answer.header("Content-Length")));
        return new Answer(answer.status, answer.head, new String(body, StandardCharsets.UTF_8));
    }

    private byte[] chunks() throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        int length;
        do {
            length = Integer.parseInt(line(), 16);
            body.write(in.readNBytes(length));
            line();
        } while (length > 0);
        return body.toByteArray();
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c == -1) {
                throw new EOFException("closed in a chunked body");
            }
            line.append((char) c);
        }
        return line.toString().strip();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
