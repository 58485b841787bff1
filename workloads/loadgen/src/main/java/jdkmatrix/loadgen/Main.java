package jdkmatrix.loadgen;

import io.netty.util.Version;
import jdkmatrix.common.command.Program;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The command line. Exit status: 0 success, 1 the load could not be made, 2 wrong usage. */
@Command(
        name = "loadgen",
        description = "Loads an HTTP/1.1 server at a constant rate or in a closed loop and tells its latency, "
                + "corrected for coordinated omission.",
        mixinStandardHelpOptions = true,
        subcommands = {RunCommand.class, SessionCommand.class})
public final class Main {
    static {
        // Netty's leak detection takes a stack trace every so many requests. Buffers here live in one method.
        System.setProperty("io.netty.leakDetection.level", "disabled");
    }

    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        return Program.commandLine(new Main(), Exception::getMessage, "netty " + netty());
    }

    static String netty() {
        return Version.identify().get("netty-transport").artifactVersion();
    }
}
