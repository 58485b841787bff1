package jdkmatrix.mpping;

import jdkmatrix.serverprobes.FixedWork;
import jdkmatrix.serverprobes.InFlight;

/** {@code GET /ping} answers a constant; {@code GET /ping?burn_us=N} first does N microseconds of fixed work. */
public final class Ping {
    private static final String ANSWER = "pong";

    private Ping() {}

    /**
     * @param burnUs as given in the query; null for no work
     * @throws jdkmatrix.serverprobes.Problem as {@link FixedWork#burn}
     */
    public static String answer(String burnUs) {
        InFlight.REQUESTS.enter();
        try {
            FixedWork.burn(burnUs);
            return ANSWER;
        } finally {
            InFlight.REQUESTS.leave();
        }
    }
}
