package jdkmatrix.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CommandTest {
    private static final String RAMP =
            "{\"label\": \"a\", \"kind\": \"ramp\", \"points\": %s, \"connections\": 4, \"duration_s\": %s}";

    @Test
    void aRamp() {
        Phase phase = Wire.parse(RAMP.formatted("[[0,0],[0.1,5],[0.1,7],[30,6000.5]]", "30")).toPhase();
        assertEquals(
                new Load.Ramp(
                        List.of(
                                new Load.Ramp.Point(0, 0),
                                new Load.Ramp.Point(100_000_000, 5),
                                new Load.Ramp.Point(100_000_000, 7),
                                new Load.Ramp.Point(30_000_000_000L, 6000.5)),
                        4),
                phase.load());
        assertEquals(30_000_000_000L, phase.durationNs());
        assertTrue(phase.scheduled());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            [[0,0],[30,6000]]              | 29 | duration_s = 29.0: the last point of the ramp is at 30.0 s
            [[0,5]]                        | 1  | points: 1 of them
            [[1,5],[2,5]]                  | 2  | points: the first must be at 0 s
            [[0,5],[2,5],[1,5]]            | 1  | points: after 2.0 s comes 1.0 s
            [[0,5],[1,5],[1,6],[1,7]]      | 1  | points: after 1.0 s comes 1.0 s
            [[0,0],[1,0],[1,5]]            | 1  | points: no rate is above 0 for any time
            [[0,-1],[1,1]]                 | 1  | points: a rate of -1.0
            [[0,1],[1,1e8]]                | 1  | points: a rate of 1.0E8
            [[0,1],[-1,1]]                 | 1  | points: a time of -1.0 s
            [[0,1],[1e5,1]]                | 1e5 | points: a time of 100000.0 s
            [[0,1],[1]]                    | 1  | points: [1.0]
            [[0,1],[1,null]]               | 1  | points: [1.0, null]
            [[0,1],null]                   | 1  | points: null
            null                           | 1  | points is missing
            """)
    void aRampThatIsNone(String points, String duration, String message) {
        Command command = Wire.parse(RAMP.formatted(points, duration));
        String found = assertThrows(IllegalArgumentException.class, command::toPhase).getMessage();
        assertTrue(found.startsWith(message), found);
    }

    @Test
    void connectionsThatJoin() {
        String join = "{\"label\": \"a\", \"kind\": \"join\", \"join_s\": %s, \"connections\": 4, \"duration_s\": 30}";
        Phase phase = Wire.parse(join.formatted("2")).toPhase();
        Load.Join load = new Load.Join(4, 2_000_000_000L);
        assertEquals(load, phase.load());
        assertEquals(
                List.of(0L, 500_000_000L, 1_000_000_000L, 1_500_000_000L),
                List.of(load.joinsAfterNs(0), load.joinsAfterNs(1), load.joinsAfterNs(2), load.joinsAfterNs(3)));
        assertFalse(phase.scheduled());
        Command none = Wire.parse(join.formatted("0"));
        assertEquals(
                "join_s = 0.0: above 0 and at most 86400 is allowed",
                assertThrows(IllegalArgumentException.class, none::toPhase).getMessage());
        Command beyond = Wire.parse(join.formatted("30.5"));
        assertEquals(
                "join_s = 30.5: at most duration_s = 30.0 is allowed",
                assertThrows(IllegalArgumentException.class, beyond::toPhase).getMessage());
    }

    @Test
    void leads() {
        String saturate = "{\"label\": \"w\", \"kind\": \"saturate\", \"connections\": 4, \"lead_s\": %s, \"duration_s\": 2}";
        assertEquals(1_500_000_000L, Wire.parse(saturate.formatted("1.5")).toPhase().leadNs());
        assertEquals(0, Wire.parse(saturate.formatted("null")).toPhase().leadNs());
        for (String bad : List.of("-1", "86401")) {
            Command command = Wire.parse(saturate.formatted(bad));
            assertThrows(IllegalArgumentException.class, command::toPhase);
        }
        Command rate = Wire.parse(saturate.formatted("1").replace("\"saturate\"", "\"rate\", \"rate_rps\": 5"));
        assertEquals(
                "lead_s is for kind \"saturate\" alone",
                assertThrows(IllegalArgumentException.class, rate::toPhase).getMessage());
    }

    @Test
    void intervals() {
        String saturate =
                "{\"label\": \"w\", \"kind\": \"saturate\", \"connections\": 4, \"interval_s\": %s, \"duration_s\": 2}";
        assertEquals(250_000_000L, Wire.parse(saturate.formatted("0.25")).toPhase().intervalNs());
        assertEquals(1_000_000_000L, Wire.parse(saturate.formatted("null")).toPhase().intervalNs());
        Command none = Wire.parse(saturate.formatted("0"));
        assertEquals(
                "interval_s = 0.0: 0.1 to 86400 is allowed",
                assertThrows(IllegalArgumentException.class, none::toPhase).getMessage());
    }

    @Test
    void keysOfOtherKinds() {
        Command command = Wire.parse(RAMP.replace("ramp", "saturate").formatted("[[0,1],[1,1]]", "1"));
        assertEquals(
                "points is not for kind \"saturate\"",
                assertThrows(IllegalArgumentException.class, command::toPhase).getMessage());
    }
}
