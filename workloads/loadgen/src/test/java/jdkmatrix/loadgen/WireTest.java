package jdkmatrix.loadgen;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The report of a session on a phase. */
class WireTest {
    @Test
    void theBusiestEventLoopIsToldBesideTheWholeProcess() {
        Phase phase = Phase.of("one", new Load.Saturate(1), 1);
        PhaseResult result = new PhaseResult(phase, 0, phase.durationNs(), 0, new Tally(), new Tally(), 0.75, 0.5);
        String line = Wire.write(Wire.finished(result, null));
        assertTrue(line.contains("\"cpu_s\":0.75") && line.contains("\"busiest_loop_cpu_s\":0.5"), line);
    }
}
