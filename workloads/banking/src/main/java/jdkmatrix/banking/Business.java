package jdkmatrix.banking;

import java.util.function.BiFunction;
import jdkmatrix.serverprobes.FixedWork;
import jdkmatrix.serverprobes.InFlight;
import jdkmatrix.serverprobes.Problem;

/** The steps of every business request: the fixed work, one call to the remote system, then its own part. */
public final class Business {
    /** Request header: parameters that replace or extend those of the remote URL; see {@link RemoteUrl#with}. */
    public static final String ORDER = "X-Remote";

    /** Response header: length of the body that the remote system returned for this very request. */
    public static final String BYTES = "X-Remote-Bytes";

    private Business() {}

    /**
     * @param burnUs as given in the query; null for no work
     * @param order the value of the header {@link #ORDER}; null for the remote URL as it is
     * @param own receives the bank and the remote system's reply; not called if the remote system fails
     * @throws Problem 400 wrong burnUs or order, 500 missing property, 502 and 504 as {@link RemoteSystem#call}
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
