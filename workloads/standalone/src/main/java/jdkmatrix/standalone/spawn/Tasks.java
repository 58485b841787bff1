package jdkmatrix.standalone.spawn;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import jdkmatrix.burn.Burn;

/** The task of a thread, and where its line goes. */
final class Tasks implements AutoCloseable {
    private final PrintStream sink;
    private final Runnable task;

    private Tasks(PrintStream sink, Runnable task) {
        this.sink = sink;
        this.task = task;
    }

    static Tasks of(SpawnPlan plan) throws IOException {
        return switch (plan.task()) {
            case "sleep" -> new Tasks(null, sleep(Duration.ofNanos(Math.round(plan.sleepS() * 1e9))));
            case "burn" -> new Tasks(null, () -> burn(plan.burnRounds()));
            default -> printing(plan.sink());
        };
    }

    Runnable task() {
        return task;
    }

    @Override
    public void close() {
        if (sink != null) {
            sink.close();
        }
    }

    /** Prints like System.out: flushed with every line. */
    private static Tasks printing(String where) throws IOException {
        if (SpawnPlan.STDOUT.equals(where)) {
            // System.out is not ours to close.
            return new Tasks(null, () -> printTo(System.out));
        }
        OutputStream bytes = where == null ? OutputStream.nullOutputStream() : Files.newOutputStream(Path.of(where));
        PrintStream sink = new PrintStream(new BufferedOutputStream(bytes), true, StandardCharsets.UTF_8);
        return new Tasks(sink, () -> printTo(sink));
    }

    private static void printTo(PrintStream sink) {
        sink.println("thread " + Thread.currentThread().threadId());
    }

    private static Runnable sleep(Duration duration) {
        return () -> {
            try {
                Thread.sleep(duration);
            } catch (InterruptedException early) {
                // It was let go.
            }
        };
    }

    private static void burn(long rounds) {
        if (Burn.burn(rounds) == 0) {
            throw new IllegalStateException("burn reached state 0, which no number of rounds can");
        }
    }
}
