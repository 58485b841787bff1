package jdkmatrix.standalone.fanout;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URI;
import java.net.URL;

/**
 * One blocking GET over a connection of its own.
 *
 * <p>It uses HttpURLConnection: the calling thread itself connects, writes and reads the socket.
 * java.net.http.HttpClient instead waits for its selector thread and hands work to a pool, so that other threads read,
 * whichever one sends. The JDK's sockets give the carrier of a virtual thread back, and HttpURLConnection guards its
 * state with java.util.concurrent locks, not with monitors, while it reads. No connection is kept ({@link #configure}),
 * so that open files are requests in flight. A request is sent a second time when the server closes without any answer.
 */
final class Get {
    private final URL url;
    private final int timeoutMs;

    Get(String url, double timeoutS) throws IOException {
        this.url = URI.create(url).toURL();
        this.timeoutMs = (int) Math.max(1, Math.round(timeoutS * 1e3));
    }

    /** Called once, before the first request of the process. */
    static void configure() {
        System.setProperty("http.keepAlive", "false");
    }

    /**
     * Reads the whole answer.
     *
     * @return its status
     */
    int send() throws IOException {
        HttpURLConnection connection = (HttpURLConnection) url.openConnection(Proxy.NO_PROXY);
        connection.setInstanceFollowRedirects(false);
        connection.setUseCaches(false);
        connection.setConnectTimeout(timeoutMs);
        connection.setReadTimeout(timeoutMs);
        try {
            int status = connection.getResponseCode();
            try (InputStream body = status >= 400 ? connection.getErrorStream() : connection.getInputStream()) {
                if (body != null) {
                    body.readAllBytes();
                }
            }
            return status;
        } finally {
            connection.disconnect();
        }
    }
}
