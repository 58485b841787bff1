package jdkmatrix.loadgen;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdkmatrix.common.command.Program;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs one measurement for a person. */
@CommandLine.Command(
        name = "run",
        description = "Loads a server once, after a warm-up of the same kind if asked for, and prints a summary.",
        mixinStandardHelpOptions = true)
final class RunCommand implements Callable<Integer> {
    private static final Pattern DURATION = Pattern.compile("(\\d+(?:\\.\\d+)?)(ms|s|m)");

    private static final Pattern POINT = Pattern.compile("(\\d+(?:\\.\\d+)?):(\\d+(?:\\.\\d+)?)");

    @Spec
    private CommandSpec spec;

    @Mixin
    private TargetOptions options;

    @ArgGroup(multiplicity = "1")
    private Kind kind;

    @Option(names = "--connections", required = true, paramLabel = "N", description = "connections kept open")
    private int connections;

    @Option(names = "--duration", paramLabel = "TIME", description = "e.g. 10s, 500ms, 2m; a ramp has its own")
    private String duration;

    @Option(names = "--warmup", paramLabel = "TIME", description = "the same load before, not measured")
    private String warmup;

    @Option(names = "--json", paramLabel = "FILE", description = "write the result as JSON")
    private Path json;

    @Option(names = "--hlog", paramLabel = "FILE", description = "write the interval log")
    private Path hlog;

    private static final class Kind {
        @Option(names = "--rate", required = true, paramLabel = "RPS", description = "requests per second, open loop")
        private Double rateRps;

        @Option(
                names = "--ramp",
                required = true,
                split = ",",
                paramLabel = "S:RPS",
                description = "seconds and requests per second there, linear in between, open loop, e.g. 0:0,30:6000")
        private List<String> ramp;

        @Option(names = "--saturate", required = true, description = "as fast as answers come, closed loop")
        private boolean saturate;
    }

    @Override
    public Integer call() throws IOException, InterruptedException, RefusedException {
        Phase phase = Program.checked(spec, this::phase);
        Phase before = warmup == null
                ? null
                : Program.checked(spec, () -> Phase.of("warmup", phase.load(), seconds("--warmup", warmup)));
        PrintStream out = System.out;
        try (Engine engine = options.newEngine()) {
            Rehearsal.play();
            if (before != null) {
                engine.run(before, new Unheard());
            }
            PhaseResult result = run(engine, phase);
            if (json != null) {
                Files.writeString(json, Wire.write(Wire.finished(result, hlog == null ? null : hlog.toString())) + "\n");
            }
            out.print(Summary.of(result, engine.url()));
            return CommandLine.ExitCode.OK;
        }
    }

    private Phase phase() {
        if (kind.ramp != null) {
            if (duration != null || warmup != null) {
                throw new IllegalArgumentException("--duration and --warmup are not for --ramp");
            }
            Load.Ramp ramp = new Load.Ramp(kind.ramp.stream().map(RunCommand::point).toList(), connections);
            return new Phase("run", ramp, 0, ramp.durationNs(), Phase.toNs(Phase.INTERVAL_S));
        }
        if (duration == null) {
            throw new IllegalArgumentException("--duration is missing");
        }
        Load load = kind.saturate ? new Load.Saturate(connections) : new Load.Rate(kind.rateRps, connections);
        return Phase.of("run", load, seconds("--duration", duration));
    }

    private static Load.Ramp.Point point(String text) {
        Matcher matcher = POINT.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("--ramp: \"%s\"; SECONDS:RATE is needed, e.g. 30:6000".formatted(text));
        }
        return Load.Ramp.Point.of(Double.parseDouble(matcher.group(1)), Double.parseDouble(matcher.group(2)));
    }

    private PhaseResult run(Engine engine, Phase phase) throws IOException, InterruptedException, RefusedException {
        if (hlog == null) {
            return engine.run(phase, new Unheard());
        }
        try (IntervalLog log = new IntervalLog(hlog, phase, engine.url())) {
            return engine.run(phase, log);
        }
    }

    private static double seconds(String option, String text) {
        Matcher matcher = DURATION.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "%s = \"%s\": a number with ms, s or m is needed, e.g. 10s".formatted(option, text));
        }
        double number = Double.parseDouble(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ms" -> number / 1e3;
            case "m" -> number * 60;
            default -> number;
        };
    }
}
