package jdkmatrix.loadgen;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import jdkmatrix.common.command.Program;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Runs phase after phase for a program: reads one {@link Command} per line and prints {@link Event}s, one per line. The
 * end of standard input ends the process, even in the middle of a phase.
 *
 * <p>After {@code ready}, each command is answered by {@code started}, an {@code interval} per second (or of the length
 * that it asks for) and {@code finished}, or by {@code error}. Errors "bad-command" and "refused" leave the session as
 * it was; "internal" ends the process with status 1.
 */
@CommandLine.Command(
        name = "session",
        description = "Reads phases as JSON lines from standard input, prints JSON lines. For programs.",
        mixinStandardHelpOptions = true)
final class SessionCommand implements Callable<Integer> {
    @Mixin
    private TargetOptions options;

    @Option(names = "--hlog-dir", paramLabel = "DIR", description = "write each phase's interval log LABEL.hlog here")
    private Path hlogDir;

    private final PrintStream out = System.out;

    @Override
    public Integer call() throws InterruptedException {
        if (hlogDir != null && !Files.isDirectory(hlogDir)) {
            throw new IllegalArgumentException("--hlog-dir %s: not a folder".formatted(hlogDir));
        }
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        try (Engine engine = options.newEngine()) {
            Thread.ofPlatform().name("stdin").daemon().start(() -> readInto(lines));
            Rehearsal.play();
            say(new Event.Ready(
                    Program.version(),
                    Main.netty(),
                    Runtime.version().toString(),
                    "epoll"));
            while (true) {
                answer(engine, lines.take());
            }
        } catch (IllegalStateException e) {
            say(new Event.Failed("internal", e.getMessage()));
            throw e;
        }
    }

    private void answer(Engine engine, String line) throws InterruptedException {
        Phase phase;
        try {
            phase = Wire.parse(line).toPhase();
        } catch (IllegalArgumentException e) {
            say(new Event.Failed("bad-command", e.getMessage()));
            return;
        }
        try {
            say(run(engine, phase));
        } catch (RefusedException e) {
            say(new Event.Failed("refused", e.getMessage()));
        } catch (IOException e) {
            say(new Event.Failed("hlog", e.toString()));
        }
    }

    private Event run(Engine engine, Phase phase) throws IOException, RefusedException, InterruptedException {
        Progress lines = new Lines(phase);
        if (hlogDir == null) {
            return Wire.finished(engine.run(phase, lines), null);
        }
        Path path = hlogDir.resolve(phase.label() + ".hlog");
        try (IntervalLog log = new IntervalLog(path, phase, engine.url())) {
            return Wire.finished(engine.run(phase, new Both(lines, log)), path.toString());
        }
    }

    private void say(Event event) {
        out.println(Wire.write(event));
        out.flush();
    }

    private static void readInto(BlockingQueue<String> lines) {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            // Whoever held the other end is gone or has had enough: exit without waiting for anything.
            Runtime.getRuntime().halt(0);
        }
    }

    private final class Lines implements Progress {
        private final Phase phase;
        private final Schedule schedule;

        Lines(Phase phase) {
            this.phase = phase;
            this.schedule = phase.load() instanceof Load.Scheduled load ? load.schedule(phase.durationNs()) : null;
        }

        @Override
        public void started(long startNs) {
            say(new Event.Started(phase.label(), startNs));
        }

        @Override
        public void interval(double fromS, double toS, Tally tally) {
            Long due = schedule == null
                    ? null
                    : Long.valueOf(schedule.dueBefore(Phase.toNs(toS)) - schedule.dueBefore(Phase.toNs(fromS)));
            say(Wire.interval(toS, due, tally));
        }

        @Override
        public void drained(double fromS, double toS, Tally tally) {
            // Is part of "finished".
        }
    }
}
