package jdkmatrix.standalone;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UsageTest {
    private static final String BURN = "burn --executor virtual --burn-rounds 10 --rounds-per-us 1 ";
    private static final String SPAWN = "spawn --kind virtual --count 1 ";

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            burn --executor green --burn-rounds 1 --in-flight 1   | --executor = "green": one of virtual, platform, cached, fixed:N
            burn --executor fixed --burn-rounds 1 --in-flight 1   | --executor = "fixed": one of
            burn --executor virtual:2 --burn-rounds 1 --in-flight 1 | --executor = "virtual:2": one of
            burn --executor fixed:0 --burn-rounds 1 --in-flight 1 | --executor fixed = 0: 1 to
            burn --executor fixed:x --burn-rounds 1 --in-flight 1 | --executor fixed = "x": a whole number
            burn --executor virtual --burn-rounds 0 --in-flight 1 | --burn-rounds = 0: 1 to
            burn --executor virtual --burn-us NaN --in-flight 1   | --burn-us = NaN: above 0
            burn --executor virtual --burn-rounds 1 --in-flight 0 | --in-flight = 0: 1 to
            burn --executor virtual --burn-rounds 1 --rate-rps 0  | --rate-rps = 0.0: above 0
            burn --executor virtual --burn-rounds 1 --in-flight 1 --duration-s 0 | --duration-s = 0.0: above 0
            burn --executor virtual --burn-rounds 1 --in-flight 1 --warmup-s -1  | --warmup-s = -1.0: 0 to
            burn --executor virtual --burn-rounds 1 --in-flight 1 --parks maybe  | --parks = "maybe": on or off
            spawn --kind green --count 1 --task print             | --kind = "green": one of virtual, platform
            spawn --kind virtual --count 0 --task print           | --count = 0: 1 to
            spawn --kind virtual --count 1 --task sleep           | --task = "sleep": one of print, sleep:SECONDS
            spawn --kind virtual --count 1 --task sleep:0         | --task sleep = 0.0: above 0
            spawn --kind virtual --count 1 --task print:1         | --task = "print:1": one of
            spawn --kind virtual --count 1 --task burn:1 --sink x | --sink is for --task print
            spawn --kind virtual --count 1 --task print --release-early | --release-early is for
            spawn --kind virtual --count 1 --task print --sink /proc/none/x | --sink = "/proc/none/x": null, stdout or a file
            spawn --kind virtual --count 1 --task print --sink / | --sink = "/": null, stdout or a file
            pinning --construct green --threads 1 --block-ms 1    | --construct = "green": one of synchronized, lock
            pinning --construct lock --block-ms 1                 | one of --threads and --kernel-threads
            pinning --construct lock --threads 1 --kernel-threads 1 --block-ms 1 | one of --threads and --kernel-threads
            pinning --construct lock --threads 1 --block-ms 0     | --block-ms = 0: 1 to
            hang --kind virtual --count 1 --inside lock           | --count = 1: 2 to
            hang --kind virtual --count 2 --inside object-wait    | --inside = "object-wait": one of synchronized, lock
            json --executor virtual --tasks 0 --buffers new       | --tasks = 0: 1 to
            json --executor virtual --tasks 1 --buffers old       | --buffers = "old": one of new, shared, striped, thread-local
            borrow --executor virtual --tasks 1 --connections 0   | --connections = 0: 1 to
            puts --executor virtual --tasks 1 --size-bytes 1 --sync --folder /none | --folder = "/none": a folder that is there
            fanout --url ftp://x --requests 1 --delay-ms 1 --how virtual   | --url = "ftp://x": http://HOST
            fanout --url http://h/ --requests 1 --delay-ms 1 --how fixed   | --how = "fixed": one of
            fanout --url http://h/ --requests 1 --delay-ms 1 --how fixed:0 | --how fixed = 0: 1 to
            fanout --url http://h/ --requests 0 --delay-ms 1 --how virtual | --requests = 0: 1 to
            fanout --url http://h/ --requests 1 --delay-ms 1 --how virtual --warmup-requests -1 | --warmup-requests = -1: 0 to
            """)
    void wrongUseIsSaidInOneLine(String line, String message) {
        Run run = Run.here(line.strip().split(" +"));
        assertEquals(2, run.status(), run.err());
        assertEquals("", run.out());
        assertEquals(1, run.err().lines().count(), run.err());
        assertTrue(run.err().startsWith(message), run.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "green",
        "burn --executor virtual --in-flight 1",
        "burn --executor virtual --burn-rounds 1",
        BURN + "--rate-rps 1 --in-flight 1",
        BURN + "--in-flight 1 --burn-us 1",
        BURN + "--in-flight x",
        SPAWN,
        "pinning --construct lock --threads 1"
    })
    void whatPicocliRefusesHasTheSameStatus(String line) {
        Run run = Run.here(line.strip().split(" +"));
        assertEquals(2, run.status(), run.err());
        assertEquals("", run.out());
    }

    @Test
    void everyExperimentHasHelp() {
        for (String experiment : new String[] {"burn", "spawn", "pinning", "hang", "fanout", "json", "borrow", "puts"}) {
            Run run = Run.here(experiment, "--help");
            assertEquals(0, run.status());
            assertTrue(run.out().startsWith("Usage: standalone " + experiment), run.out());
        }
    }
}
