package jdkmatrix.standalone.result;

import java.util.concurrent.atomic.AtomicReference;

/** The first failure among many threads, which ends the experiment. Thread-safe. */
public final class FirstFailure {
    private final AtomicReference<Throwable> first = new AtomicReference<>();

    public void failed(Throwable why) {
        first.compareAndSet(null, why);
    }

    public boolean isThere() {
        return first.get() != null;
    }

    /** Throws it, if there is one. */
    public void rethrow() throws Exception {
        switch (first.get()) {
            case null -> {}
            case Error error -> throw error;
            case Throwable exception -> throw (Exception) exception;
        }
    }
}
