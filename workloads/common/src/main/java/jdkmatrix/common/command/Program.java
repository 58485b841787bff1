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
 * The command line of a program. Exit status: 0 done, 1 it failed, 2 wrong usage; what went wrong is said on standard
 * error. {@code --version} names the program, what it is made with and the JVM, of its subcommands too.
 */
public final class Program {
    private Program() {}

    /**
     * @param main has picocli's annotations
     * @param words what is said of a failure, behind the program's name
     * @param madeWith lines of {@code --version}
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

    /** As the manifest of the program's jar says; "development" where the classes were started without it. */
    public static String version() {
        String version = Program.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    /**
     * What {@code options} makes of the options of {@code command}.
     *
     * @param options throws an IllegalArgumentException that says which option is wrong, what was found and what is allowed
     * @throws ParameterException the same words, as wrong usage
     */
    public static <T> T checked(CommandSpec command, Supplier<T> options) {
        try {
            return options.get();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), e.getMessage(), e);
        }
    }
}
