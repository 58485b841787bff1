package jdkmatrix.standalone.fanout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import jdkmatrix.requestexecutor.Kind;
import jdkmatrix.requestexecutor.RequestExecutor;

/** Runs the same request many times at once, and returns when all of them are over. */
@FunctionalInterface
interface Fan {
    /**
     * @param request never throws
     * @throws RefusedThreads when not all of them could be started; those that were started are over
     */
    void run(int requests, Runnable request) throws InterruptedException, RefusedThreads, ReflectiveOperationException;

    /** Thrown when a thread could not be started. */
    final class RefusedThreads extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient OutOfMemoryError error;
        private final int started;

        RefusedThreads(OutOfMemoryError error, int started) {
            super(error);
            this.error = error;
            this.started = started;
        }

        OutOfMemoryError error() {
            return error;
        }

        /** Returns how many threads or tasks were started before it. */
        int started() {
            return started;
        }
    }

    static Fan of(How how) {
        return switch (how.kind()) {
            case PLATFORM -> Fan::platformThreads;
            case FIXED -> (requests, request) -> {
                ThreadFactory threads = Thread.ofPlatform().daemon().factory();
                execute(Executors.newFixedThreadPool(how.atOnce(), threads), requests, request);
            };
            case VIRTUAL -> (requests, request) ->
                    execute(Executors.newVirtualThreadPerTaskExecutor(), requests, request);
            case VIRTUAL_BOUNDED -> (requests, request) -> {
                Kind bounded = Kind.named("virtual-bounded-" + how.atOnce());
                execute(RequestExecutor.of(bounded).executor(), requests, request);
            };
            case STRUCTURED -> StructuredFan::run;
        };
    }

    private static void platformThreads(int requests, Runnable request) throws InterruptedException, RefusedThreads {
        List<Thread> threads = new ArrayList<>(requests);
        OutOfMemoryError refused = null;
        while (threads.size() < requests && refused == null) {
            try {
                threads.add(Thread.ofPlatform().daemon().start(request));
            } catch (OutOfMemoryError error) {
                refused = error;
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (refused != null) {
            throw new RefusedThreads(refused, threads.size());
        }
    }

    private static void execute(ExecutorService executor, int requests, Runnable request) throws RefusedThreads {
        int submitted = 0;
        // Closing waits for the submitted tasks.
        try (executor) {
            while (submitted < requests) {
                executor.execute(request);
                submitted++;
            }
        } catch (OutOfMemoryError error) {
            throw new RefusedThreads(error, submitted);
        }
    }
}
