package jdkmatrix.banking;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.function.BiFunction;
import jdkmatrix.serverprobes.Parameters;
import jdkmatrix.serverprobes.Problem;
import jdkmatrix.serverprobes.Text;

/** The remote system, called over persistent HTTP/1.1 connections. */
interface RemoteSystem {
    /**
     * Calls the remote system once; the calling thread waits.
     *
     * @param order see {@link RemoteUrl#with}; null for the URL as configured
     * @throws Problem 400 for a wrong order, 502 if it answered with a status other than 200 or not at all, 503 if
     *     interrupted, 504 if it gave no answer in time
     */
    Reply call(String order);

    /** The client that calls it. */
    enum Client {
        /** {@link HttpClientRemote}: the thread parks until other threads have the answer. */
        HTTP_CLIENT("http-client", HttpClientRemote::new),
        /** {@link SocketRemote}: the thread itself blocks on the socket. */
        SOCKET("socket", SocketRemote::new);

        private final String text;
        private final BiFunction<URI, Duration, RemoteSystem> made;

        Client(String text, BiFunction<URI, Duration, RemoteSystem> made) {
            this.text = text;
            this.made = made;
        }

        /** @param timeout for one call */
        RemoteSystem of(URI url, Duration timeout) {
            return made.apply(url, timeout);
        }

        /**
         * @param property the system property whose value is {@code text}
         * @throws Problem 500 if {@code text} is none of them
         */
        static Client named(String property, String text) {
            return Parameters.named(property, text, values(), client -> client.text);
        }
    }

    static Problem late(Duration timeout) {
        return new Problem(504, "the remote system gave no answer within " + timeout.toMillis() + " ms");
    }

    static Problem unreachable(URI url) {
        return new Problem(502, "the remote system cannot be reached at " + url.getAuthority());
    }

    static Problem broken(IOException broken) {
        return new Problem(502, "the connection to the remote system broke: " + Text.quoted(broken.getMessage()));
    }

    static Problem interrupted() {
        return new Problem(503, "interrupted while the remote system was awaited");
    }
}
