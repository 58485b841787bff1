package jdkmatrix.jettyserver;

import java.util.concurrent.Executor;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Ensures that no thread serves a second request.
 *
 * <p>Jetty hands a thread not a request but a connection that has something to read. A thread that has served a request
 * with a body, or found more than one request, looks for another before it gives the connection back; and where a
 * request was not served by the thread that read it, a thread of Jetty's own pool looks for the next. Whatever they
 * find gets a thread of its own here. As a rule, they find nothing.
 */
final class ThreadPerRequest {
    private final Executor threads;
    private final ThreadLocal<Boolean> unused = new ThreadLocal<>();

    /** @param threads starts a thread for each task */
    ThreadPerRequest(Executor threads) {
        this.threads = threads;
    }

    /** Runs one of Jetty's tasks, in which one request may be served. */
    void execute(Runnable task) {
        threads.execute(() -> {
            unused.set(true);
            task.run();
        });
    }

    /** Serves the requests of {@code application} as described above. */
    Handler around(Handler application) {
        return new Handler.Wrapper(application) {
            @Override
            public boolean handle(Request request, Response response, Callback callback) throws Exception {
                if (unused.get() != null) {
                    unused.remove();
                    return super.handle(request, response, callback);
                }
                threads.execute(() -> serve(application, request, response, callback));
                return true;
            }
        };
    }

    private static void serve(Handler application, Request request, Response response, Callback callback) {
        try {
            if (!application.handle(request, response, callback)) {
                Response.writeError(request, response, callback, HttpStatus.NOT_FOUND_404);
            }
        } catch (Throwable failure) {
            Response.writeError(request, response, callback, failure);
        }
    }
}
