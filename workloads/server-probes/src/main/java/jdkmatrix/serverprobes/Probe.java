package jdkmatrix.serverprobes;

import java.util.Map;
import java.util.function.UnaryOperator;

/** What the server process tells of itself, on the thread that serves the request. */
public interface Probe {
    Map<String, Probe> BY_PATH =
            Map.of("/whoami", new WhoamiProbe(), "/gauges", new GaugesProbe(), "/burn", new BurnProbe());

    /**
     * @param parameter gives a parameter of the request by its name, or null
     * @return a JSON object
     * @throws Problem a parameter is missing or wrong
     */
    String answer(UnaryOperator<String> parameter);
}
