package jdkmatrix.banking;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.concurrent.Executors;

/**
 * Calls through the blocking {@code send} of the JDK's own client. It parks the calling thread, platform or virtual,
 * in the same way on every JDK and under every executor, pins no carrier and needs no feature of the server, so that an
 * experiment compares nothing but how threads wait. Beside the request's thread it costs one selector thread and some
 * workers, all of them platform threads; each call passes through both. By default the client uses as many workers as
 * answers come in at once: with 600 calls in flight for 50 ms each, 35 to 187 were counted (JDK 21 and 25), threads
 * that would hide the differences between executors. With two workers the same load had these three threads, was as
 * fast and took no more CPU time.
 *
 * <p>It uses POST, though it sends nothing: the client repeats a GET on its own, up to four times, when a kept-alive
 * connection ends without an answer. A request that the remote system fails would then have called it more than once.
 */
final class HttpClientRemote implements RemoteSystem {
    private static final int WORKERS = 2;

    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .proxy(HttpClient.Builder.NO_PROXY)
            .executor(Executors.newFixedThreadPool(
                    WORKERS,
                    Thread.ofPlatform()
                            .daemon()
                            .name("banking-remote-", 1)
                            .inheritInheritableThreadLocals(false)
                            .factory()))
            .build();
    private final URI url;
    private final Duration timeout;
    private final HttpRequest asConfigured;

    /** @param timeout from the call to the head of the answer; before JDK 26 the client does not time the body */
    HttpClientRemote(URI url, Duration timeout) {
        this.url = url;
        this.timeout = timeout;
        asConfigured = request(url);
    }

    @Override
    public Reply call(String order) {
        HttpRequest request = order == null ? asConfigured : request(RemoteUrl.with(url, order));
        HttpResponse<byte[]> response;
        try {
            response = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
        } catch (HttpTimeoutException late) {
            throw RemoteSystem.late(timeout);
        } catch (ConnectException refused) {
            throw RemoteSystem.unreachable(url);
        } catch (IOException broken) {
            throw RemoteSystem.broken(broken);
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
            throw RemoteSystem.interrupted();
        }
        return Reply.of(
                response.statusCode(), response.headers().firstValue("Content-Type").orElse(null), response.body());
    }

    private HttpRequest request(URI to) {
        return HttpRequest.newBuilder(to)
                .POST(HttpRequest.BodyPublishers.noBody())
                .timeout(timeout)
                .build();
    }
}
