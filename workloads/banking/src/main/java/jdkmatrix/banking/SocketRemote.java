package jdkmatrix.banking;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * Calls through plain sockets: the calling thread writes the request and blocks while it reads the answer. No other
 * thread is involved, so a virtual thread gives up its carrier at the socket and a platform thread waits in the kernel.
 *
 * <p>A connection serves one call at a time; the most recently used one is used next. Like {@link HttpClientRemote} it
 * uses POST, and never repeats it: a kept-alive connection that ends without an answer fails the call.
 */
final class SocketRemote implements RemoteSystem {
    private final ConcurrentLinkedDeque<KeptConnection> idle = new ConcurrentLinkedDeque<>();
    private final URI url;
    private final Duration timeout;

    /** @param timeout from the call to the end of the answer */
    SocketRemote(URI url, Duration timeout) {
        this.url = url;
        this.timeout = timeout;
    }

    @Override
    public Reply call(String order) {
        URI to = order == null ? url : RemoteUrl.with(url, order);
        if (Thread.currentThread().isInterrupted()) {
            throw RemoteSystem.interrupted();
        }
        long endNs = System.nanoTime() + timeout.toNanos();
        try {
            KeptConnection kept = idle.pollFirst();
            KeptConnection connection = kept == null ? KeptConnection.open(url, endNs) : kept;
            KeptConnection.Answer answer = connection.exchange(to, endNs);
            if (answer.keepsConnection()) {
                idle.addFirst(connection);
            } else {
                connection.close();
            }
            return Reply.of(answer.status(), answer.contentType(), answer.body());
        } catch (SocketTimeoutException late) {
            throw RemoteSystem.late(timeout);
        } catch (ConnectException refused) {
            throw RemoteSystem.unreachable(url);
        } catch (IOException broken) {
            // An interrupt closes the socket that a virtual thread blocks on.
            throw Thread.currentThread().isInterrupted() ? RemoteSystem.interrupted() : RemoteSystem.broken(broken);
        }
    }
}
