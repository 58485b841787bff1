package jdkmatrix.banking;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * One HTTP/1.1 connection for one exchange at a time, limited to what the remote system speaks: a head, and a body
 * whose length the head gives. Any failure closes it.
 */
final class KeptConnection {
    private static final int HEAD_BYTES_MAX = 8192;
    private static final int DEFAULT_PORT = 80;

    private final Socket socket;
    private final byte[] buffer = new byte[HEAD_BYTES_MAX];
    private int begin;
    private int end;

    /** One answer; {@code contentType} is null if it names none. */
    record Answer(int status, String contentType, byte[] body, boolean keepsConnection) {}

    private KeptConnection(Socket socket) {
        this.socket = socket;
    }

    /** @throws SocketTimeoutException if {@code endNs}, as System.nanoTime, has passed */
    static KeptConnection open(URI url, long endNs) throws IOException {
        Socket socket = new Socket();
        try {
            socket.setTcpNoDelay(true);
            socket.connect(
                    new InetSocketAddress(url.getHost(), url.getPort() < 0 ? DEFAULT_PORT : url.getPort()), leftMs(endNs));
            return new KeptConnection(socket);
        } catch (IOException failed) {
            socket.close();
            throw failed;
        }
    }

    void close() throws IOException {
        socket.close();
    }

    /**
     * Sends an empty POST to {@code to} and reads the answer.
     *
     * @throws SocketTimeoutException if {@code endNs}, as System.nanoTime, has passed
     */
    Answer exchange(URI to, long endNs) throws IOException {
        try {
            socket.getOutputStream().write(request(to));
            return answer(endNs);
        } catch (IOException failed) {
            socket.close();
            throw failed;
        }
    }

    private static byte[] request(URI to) {
        String query = to.getRawQuery() == null ? "" : "?" + to.getRawQuery();
        String head = "POST " + to.getRawPath() + query + " HTTP/1.1\r\nHost: " + to.getAuthority()
                + "\r\nContent-Length: 0\r\n\r\n";
        return head.getBytes(StandardCharsets.US_ASCII);
    }

    private Answer answer(long endNs) throws IOException {
        int status = status(line(endNs));
        String contentType = null;
        int length = -1;
        boolean keeps = true;
        for (String line = line(endNs); !line.isEmpty(); line = line(endNs)) {
            int colon = line.indexOf(':');
            if (colon <= 0) {
                throw new ProtocolException("no header: " + line);
            }
            String value = line.substring(colon + 1).strip();
            switch (line.substring(0, colon).toLowerCase(Locale.ROOT)) {
                case "content-type" -> contentType = value;
                case "content-length" -> length = whole(value);
                case "connection" -> keeps = !value.equalsIgnoreCase("close");
                default -> {} // not needed here
            }
        }
        if (length < 0) {
            throw new ProtocolException("an answer without Content-Length");
        }
        return new Answer(status, contentType, body(length, endNs), keeps);
    }

    private static int status(String line) throws ProtocolException {
        String[] parts = line.split(" ", 3);
        if (parts.length < 2 || !parts[0].equals("HTTP/1.1")) {
            throw new ProtocolException("no answer of HTTP/1.1: " + line);
        }
        return whole(parts[1]);
    }

    private static int whole(String text) throws ProtocolException {
        try {
            int number = Integer.parseInt(text);
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException noNumber) {
            // Reported below.
        }
        throw new ProtocolException("no whole number: " + text);
    }

    /** Returns the next line of the head, without its line ending. */
    private String line(long endNs) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = read(endNs); next != '\n'; next = read(endNs)) {
            if (line.size() == HEAD_BYTES_MAX) {
                throw new ProtocolException("a line of more than " + HEAD_BYTES_MAX + " bytes");
            }
            line.write(next);
        }
        String text = line.toString(StandardCharsets.ISO_8859_1);
        return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
    }

    private int read(long endNs) throws IOException {
        if (begin == end) {
            fill(endNs);
        }
        return buffer[begin++] & 0xff;
    }

    private byte[] body(int length, long endNs) throws IOException {
        byte[] body = Arrays.copyOf(Arrays.copyOfRange(buffer, begin, Math.min(end, begin + length)), length);
        int done = Math.min(end - begin, length);
        begin += done;
        InputStream in = socket.getInputStream();
        while (done < length) {
            socket.setSoTimeout(leftMs(endNs));
            int got = in.read(body, done, length - done);
            if (got < 0) {
                throw new EOFException("the answer ended after " + done + " of " + length + " bytes of its body");
            }
            done += got;
        }
        return body;
    }

    private void fill(long endNs) throws IOException {
        socket.setSoTimeout(leftMs(endNs));
        int got = socket.getInputStream().read(buffer);
        if (got < 0) {
            throw new EOFException("it ended without an answer");
        }
        begin = 0;
        end = got;
    }

    private static int leftMs(long endNs) throws SocketTimeoutException {
        long leftNs = endNs - System.nanoTime();
        if (leftNs <= 0) {
            throw new SocketTimeoutException();
        }
        // Rounded up: 0 would mean forever.
        return (int) Math.min(Integer.MAX_VALUE, TimeUnit.NANOSECONDS.toMillis(leftNs) + 1);
    }
}
