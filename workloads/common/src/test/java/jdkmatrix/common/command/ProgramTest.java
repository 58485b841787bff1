package jdkmatrix.common.command;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

class ProgramTest {
    @Command(name = "press", mixinStandardHelpOptions = true, subcommands = Print.class)
    private static final class Press {}

    @Command(name = "print", mixinStandardHelpOptions = true)
    private static final class Print implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Option(names = "--copies", required = true)
        private long copies;

        @Override
        public Integer call() throws IOException {
            long checked = Program.checked(spec, () -> Numbers.whole("--copies", copies, 1, 9));
            if (checked > 5) {
                throw new IOException("no paper");
            }
            return CommandLine.ExitCode.OK;
        }
    }

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... arguments) {
        return Program.commandLine(new Press(), Exception::getMessage, "ink 2")
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(arguments);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            print --copies 5   | 0 | ''
            print --copies 6   | 1 | press: no paper
            print --copies 10  | 2 | --copies = 10: 1 to 9 are allowed
            print --copies x   | 2 | Invalid value for option '--copies': 'x' is not a long
            """)
    void theStatusAndOneLineSayWhatBecameOfIt(String line, int status, String said) {
        assertEquals(status, run(line.strip().split(" +")), err.toString());
        assertEquals(said, err.toString().strip());
        assertEquals("", out.toString());
    }

    @Test
    void everyCommandTellsTheVersion() {
        assertEquals(0, run("--version"));
        assertEquals(0, run("print", "--version"));
        String versions = "press development%nink 2%njava %s%n".formatted(Runtime.version());
        assertEquals(versions + versions, out.toString());
    }
}
