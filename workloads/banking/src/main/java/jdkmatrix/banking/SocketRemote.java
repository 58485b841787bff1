package jdkmatrix.banking;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * By plain sockets: the calling thread writes the request, and blocks in the read of the answer. No other thread takes
 * part, so that a virtual thread gives its carrier up at the socket, and a platform thread waits in the kernel.
 *
 * <p>A connection belongs to one call at a time; the one that was used last is used next. By POST, and never twice, as
 * {@link HttpClientRemote}: a kept connection that ends without an answer fails the call.
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
