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
 * By the blocking {@code send} of the JDK's own client. It parks the calling thread, platform or virtual, on every
 * JDK and under every executor alike, pins no carrier, and needs no feature of the server, so that an experiment
 * compares how threads wait and nothing else. What it costs beside the request's thread: one thread that selects, and
 * workers, all of them platform threads; each call passes through both. Left to itself the client takes as many workers
 * as answers come in at once: with 600 calls in flight for 50 ms each, 35 to 187 were counted (JDK 21 and 25), threads
 * that would hide what the executors differ by. With two of its own the same load had these three threads, was as fast
 * and took no more CPU time.
 *
 * <p>By POST, though nothing is sent: the client repeats a GET on its own, up to four times, when a kept connection ends
 * without an answer. Then a request that the remote system fails would have called it more than once.
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

    /** @param timeout from the call until the head of the answer; before JDK 26 the client does not time the body */
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
