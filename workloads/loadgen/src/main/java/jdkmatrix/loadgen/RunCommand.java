package jdkmatrix.loadgen;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** One measurement for a person. */
@CommandLine.Command(
        name = "run",
        description = "Loads a server once, after a warm-up of the same kind if asked for, and prints a summary.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.class)
final class RunCommand implements Callable<Integer> {
    private static final Pattern DURATION = Pattern.compile("(\\d+(?:\\.\\d+)?)(ms|s|m)");

    @Spec
    private CommandSpec spec;

    @Mixin
    private TargetOptions options;

    @ArgGroup(multiplicity = "1")
    private Kind kind;

    @Option(names = "--connections", required = true, paramLabel = "N", description = "connections kept open")
    private int connections;

    @Option(names = "--duration", required = true, paramLabel = "TIME", description = "e.g. 10s, 500ms, 2m")
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

        @Option(names = "--saturate", required = true, description = "as fast as answers come, closed loop")
        private boolean saturate;
    }

    @Override
    public Integer call() throws IOException, InterruptedException, RefusedException {
        Phase phase;
        Phase before;
        try {
            Load load = kind.saturate ? new Load.Saturate(connections) : new Load.Rate(kind.rateRps, connections);
            phase = Phase.of("run", load, seconds("--duration", duration));
            before = warmup == null ? null : Phase.of("warmup", load, seconds("--warmup", warmup));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
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
