package jdkmatrix.standalone.fanout;

import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Locale;

/** Names the failure of a request that got no good answer. Java tells most causes only by the system's message. */
final class Failure {
    static final String FILES = "too-many-open-files";

    private Failure() {}

    /** Returns a word for an exception, the same for the same cause. */
    static String of(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            String message = String.valueOf(cause.getMessage()).toLowerCase(Locale.ROOT);
            if (message.contains("too many open files")) {
                return FILES;
            }
            if (message.contains("cannot assign requested address")) {
                return "no-free-port";
            }
        }
        String message = String.valueOf(error.getMessage()).toLowerCase(Locale.ROOT);
        return switch (error) {
            case SocketTimeoutException timeout -> "timeout";
            case ConnectException connect -> message.contains("refused") ? "refused" : "connect";
            case NoRouteToHostException route -> "no-route";
            case UnknownHostException host -> "unknown-host";
            case OutOfMemoryError memory -> "out-of-memory";
            default -> message.contains("reset") || message.contains("broken pipe") || message.contains("unexpected end")
                    ? "closed-by-server"
                    : error.getClass().getSimpleName();
        };
    }

    /** Returns a word for an answer; null for a good one. */
    static String of(int status) {
        return status >= 200 && status < 300 ? null : "status-" + status;
    }
}
