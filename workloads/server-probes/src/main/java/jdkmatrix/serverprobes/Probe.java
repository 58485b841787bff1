package jdkmatrix.serverprobes;

import java.util.function.UnaryOperator;

/** What the server process tells of itself, on the thread that serves the request. */
interface Probe {
    /**
     * @param parameter gives a parameter of the request by its name, or null
     * @return a JSON object
     * @throws Problem a parameter is missing or wrong
     */
    String answer(UnaryOperator<String> parameter);
}
