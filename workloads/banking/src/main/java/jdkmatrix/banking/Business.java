package jdkmatrix.banking;

import java.util.function.BiFunction;
import jdkmatrix.serverprobes.FixedWork;
import jdkmatrix.serverprobes.InFlight;
import jdkmatrix.serverprobes.Problem;

/** What every business request does: the fixed work, one call of the remote system, then its own part. */
public final class Business {
    /** Of a request: parameters that replace or add to those of the remote URL; see {@link RemoteUrl#with}. */
    public static final String ORDER = "X-Remote";

    /** Of an answer: how long the body was that the remote system gave to this very request. */
    public static final String BYTES = "X-Remote-Bytes";

    private Business() {}

    /**
     * @param burnUs as it stands in the query; null: no work
     * @param order the value of the header {@link #ORDER}; null: the remote URL as it is
     * @param own gets the bank and the remote system's reply; not called where the remote system fails
     * @throws Problem 400 wrong burnUs or order, 500 a property is missing, 502 and 504 as {@link RemoteSystem#call}
     */
    static Answer serve(String burnUs, String order, BiFunction<Bank, Reply, Answer> own) {
        InFlight.REQUESTS.enter();
        try {
            Bank bank = Bank.configured();
            FixedWork.burn(burnUs);
            Reply reply = bank.remote().call(order);
            return own.apply(bank, reply);
        } finally {
            InFlight.REQUESTS.leave();
        }
    }
}
