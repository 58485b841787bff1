package jdkmatrix.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import jdkmatrix.requestexecutor.RequestExecutor;
import jdkmatrix.serverprobes.OwnPoolMXBean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UsageTest {
    private record Unstarted(boolean takesExecutors) implements EmbeddedServer {
        @Override
        public String version() {
            return "0";
        }

        @Override
        public Set<String> own() {
            return Set.of(OWN, OWN_SIZED);
        }

        @Override
        public int start(int port, Application application, String executor, Optional<RequestExecutor> plugged) {
            throw new AssertionError("started");
        }

        @Override
        public OwnPoolMXBean ownPool() {
            return null;
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            true  | --port 65536 --application mp-ping --executor own     | --port = 65536: 0 to 65535 are allowed
            true  | --port x --application mp-ping --executor own         | Invalid value for option '--port': 'x' is not an int
            true  | --port 0 --application ping --executor own            | --application = "ping": one of mp-ping,
            true  | --port 0 --application mp-ping --executor liberty     | unknown request executor: found liberty, allowed are cached,
            true  | --port 0 --application mp-ping --executor structured  | unknown request executor: found structured, allowed are cached,
            true  | --port 0 --application mp-ping --executor fixed-0     | unknown request executor: found fixed-0, allowed are cached,
            false | --port 0 --application mp-ping --executor virtual     | --executor = "virtual": this server has none but own
            false | --port 0 --application mp-ping --executor own-0       | --executor = "own-0": this server has none but own
            false | --port 0 --application mp-ping --executor own-N       | --executor = "own-N": this server has none but own
            true  | --port 0 --application mp-ping                        | Missing required option: '--executor=NAME'
            """, quoteCharacter = '`')
    void whatIsWrongIsSaidInALine(boolean takesExecutors, String arguments, String begin) {
        StringWriter said = new StringWriter();
        int status = ServerProgram.commandLine(new Unstarted(takesExecutors))
                .setErr(new PrintWriter(said, true))
                .execute(arguments.split(" "));
        assertEquals(2, status);
        assertTrue(said.toString().startsWith(begin), said::toString);
        assertEquals(1, said.toString().lines().count());
    }

    @Test
    void everyApplicationIsNamedAsAllowed() {
        for (Application application : Application.values()) {
            assertTrue(List.of(Application.ALLOWED.split(", ")).contains(application.toString()));
            assertEquals(application, Application.named("--application", application.toString()));
        }
    }
}
