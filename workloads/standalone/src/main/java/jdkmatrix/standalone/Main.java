package jdkmatrix.standalone;

import jdkmatrix.common.command.Program;
import jdkmatrix.standalone.burn.BurnCommand;
import jdkmatrix.standalone.fanout.FanoutCommand;
import jdkmatrix.standalone.hang.HangCommand;
import jdkmatrix.standalone.pinning.PinningCommand;
import jdkmatrix.standalone.rounds.BorrowCommand;
import jdkmatrix.standalone.rounds.JsonCommand;
import jdkmatrix.standalone.rounds.PutsCommand;
import jdkmatrix.standalone.spawn.SpawnCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * The command line. The last line of standard output is one JSON object; progress goes to standard error. Exit status:
 * 0 there is a result, even if the host or the JDK refused; 1 the experiment broke; 2 wrong usage.
 */
@Command(
        name = "standalone",
        description = "Experiments on executors and threads without any server. The last line of standard output is one "
                + "JSON object, whose keys carry their units.",
        mixinStandardHelpOptions = true,
        subcommands = {
            BurnCommand.class, SpawnCommand.class, PinningCommand.class, HangCommand.class, FanoutCommand.class, JsonCommand.class,
            BorrowCommand.class, PutsCommand.class
        })
public final class Main {
    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        return Program.commandLine(new Main(), Exception::toString);
    }
}
