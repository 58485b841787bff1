package jdkmatrix.loadgen;

import io.netty.util.Version;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/** The command line. Exit status: 0 done, 1 the load could not be made, 2 wrong usage. */
@Command(
        name = "loadgen",
        description = "Loads an HTTP/1.1 server at a constant rate or in a closed loop and tells its latency, "
                + "corrected for coordinated omission.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.class,
        subcommands = {RunCommand.class, SessionCommand.class})
public final class Main implements IVersionProvider {
    static {
        // Netty's hunt for leaked buffers takes a stack trace every so many requests. Buffers here live in one method.
        System.setProperty("io.netty.leakDetection.level", "disabled");
    }

    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        return new CommandLine(new Main())
                .setParameterExceptionHandler((exception, args) -> {
                    exception.getCommandLine().getErr().println(exception.getMessage());
                    return CommandLine.ExitCode.USAGE;
                })
                .setExecutionExceptionHandler((exception, line, parsed) -> {
                    line.getErr().println("loadgen: " + exception.getMessage());
                    return CommandLine.ExitCode.SOFTWARE;
                });
    }

    /** As the jar's manifest says; "development" where the classes were started without the jar. */
    static String version() {
        String version = Main.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    static String netty() {
        return Version.identify().get("netty-transport").artifactVersion();
    }

    @Override
    public String[] getVersion() {
        return new String[] {"loadgen " + version(), "netty " + netty(), "java " + Runtime.version()};
    }
}
