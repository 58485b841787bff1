package jdkmatrix.serverprobes;

import java.util.Map;
import java.util.function.UnaryOperator;

/** A report of the server process on itself, made on the thread that serves the request. */
public interface Probe {
    Map<String, Probe> BY_PATH =
            Map.of("/whoami", new WhoamiProbe(), "/gauges", new GaugesProbe(), "/burn", new BurnProbe());

    /**
     * @param parameter returns a parameter of the request by its name, or null
     * @return a JSON object
     * @throws Problem when a parameter is missing or wrong
     */
    String answer(UnaryOperator<String> parameter);
}
