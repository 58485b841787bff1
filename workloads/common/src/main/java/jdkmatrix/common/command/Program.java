package jdkmatrix.common.command;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/**
 * The command line of a program. Exit status: 0 success, 1 failure, 2 wrong usage; the reason is printed to standard
 * error. {@code --version}, of subcommands too, names the program, what it is made with and the JVM.
 */
public final class Program {
    private Program() {}

    /**
     * @param main an object with picocli's annotations
     * @param words the message for a failure, printed after the program's name
     * @param madeWith further lines of {@code --version}
     */
    public static CommandLine commandLine(Object main, Function<Exception, String> words, String... madeWith) {
        CommandLine line = new CommandLine(main);
        String name = line.getCommandName();
        List<String> versions = new ArrayList<>(List.of(madeWith));
        versions.addFirst(name + " " + version());
        versions.addLast("java " + Runtime.version());
        IVersionProvider told = () -> versions.toArray(String[]::new);
        line.getCommandSpec().versionProvider(told);
        line.getSubcommands().values().forEach(command -> command.getCommandSpec().versionProvider(told));
        return line.setParameterExceptionHandler((wrong, arguments) -> {
                    wrong.getCommandLine().getErr().println(wrong.getMessage());
                    return CommandLine.ExitCode.USAGE;
                })
                .setExecutionExceptionHandler((failure, command, parsed) -> {
                    command.getErr().println(name + ": " + words.apply(failure));
                    return CommandLine.ExitCode.SOFTWARE;
                });
    }

    /** Returns the version in the manifest of the program's jar; "development" if the classes run without it. */
    public static String version() {
        String version = Program.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    /**
     * Returns what {@code options} makes of the options of {@code command}.
     *
     * @param options throws an IllegalArgumentException that says which option is wrong, what was found and what is allowed
     * @throws ParameterException with the same message, as wrong usage
     */
    public static <T> T checked(CommandSpec command, Supplier<T> options) {
        try {
            return options.get();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), e.getMessage(), e);
        }
    }
}
