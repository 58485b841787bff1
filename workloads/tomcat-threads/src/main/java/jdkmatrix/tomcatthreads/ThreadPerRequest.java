package jdkmatrix.tomcatthreads;

import jakarta.servlet.ServletException;
import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;

/**
 * Ensures that no thread serves a second request.
 *
 * <p>Tomcat hands a thread not a request but a connection that has something to read, and a thread that has answered
 * looks for another request before it gives the connection back. What it finds gets a thread of its own here, for which
 * the first one waits. As a rule, it finds nothing.
 */
final class ThreadPerRequest extends ValveBase {
    private final ThreadFactory threads;
    private final ThreadLocal<Boolean> used = new ThreadLocal<>();

    /** @param threads must not belong to an executor that could wait until this thread has ended */
    ThreadPerRequest(ThreadFactory threads) {
        super(true);
        this.threads = threads;
    }

    @Override
    public void invoke(Request request, Response response) throws IOException, ServletException {
        if (used.get() == null) {
            used.set(true);
            getNext().invoke(request, response);
            return;
        }
        FutureTask<Void> served = new FutureTask<>(() -> {
            getNext().invoke(request, response);
            return null;
        });
        threads.newThread(served).start();
        try {
            served.get();
        } catch (ExecutionException failed) {
            throw new ServletException(failed.getCause());
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
            throw new IOException(ended);
        }
    }
}
