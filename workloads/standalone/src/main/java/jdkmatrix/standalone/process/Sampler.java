package jdkmatrix.standalone.process;

/** Looks at something again and again, on a thread of its own, until it is closed. */
public final class Sampler implements AutoCloseable {
    private final Thread thread;
    private volatile boolean closed;

    /**
     * @param periodMs from the end of one look to the next
     * @param look must not throw
     */
    public Sampler(String name, long periodMs, Runnable look) {
        thread = Thread.ofPlatform().daemon().name(name).unstarted(() -> {
            while (!closed) {
                look.run();
                try {
                    Thread.sleep(periodMs);
                } catch (InterruptedException end) {
                    return;
                }
            }
        });
    }

    public void start() {
        thread.start();
    }

    /** Waits until the last look is over. */
    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
