package jdkmatrix.banking;

import java.util.ServiceLoader;
import java.util.concurrent.locks.ReentrantLock;
import jdkmatrix.serverprobes.Problem;

/** The books and the remote system of this server process, made for the first request and from system properties. */
record Bank(Books books, RemoteSystem remote) {
    private static final ReentrantLock MAKING = new ReentrantLock();
    private static volatile Bank configured;
    /** Null: the ServiceLoader finds it. */
    private static volatile Books.Opener opener;
    /** Kept for every request. */
    private static String misconfigured;

    /**
     * Books that are not in memory wait for a socket while they are opened. In an initialiser of a class a virtual thread
     * would keep its carrier meanwhile, and on the only one nobody could read from the socket.
     *
     * @throws Problem 500 names the property that is missing or wrong
     */
    static Bank configured() {
        return configured == null ? made() : configured;
    }

    static void openedBy(Books.Opener another) {
        opener = another;
    }

    private static Bank made() {
        MAKING.lock();
        try {
            if (misconfigured != null) {
                throw Problem.misconfigured(misconfigured);
            }
            if (configured == null) {
                configured = System.getProperty(Settings.DATABASE_URL) == null ? inMemory() : elsewhere();
            }
            return configured;
        } catch (Problem wrong) {
            misconfigured = wrong.getMessage();
            throw wrong;
        } finally {
            MAKING.unlock();
        }
    }

    private static Bank inMemory() {
        Settings settings = Settings.of(System::getProperty);
        return new Bank(new Ledger(settings.accounts()), settings.client().of(settings.remote(), settings.timeout()));
    }

    private static Bank elsewhere() {
        Books.Opener opens = opener == null ? found() : opener;
        return new Bank(opens.open(Settings.accounts(System::getProperty), System::getProperty), order -> Reply.NONE);
    }

    private static Books.Opener found() {
        return ServiceLoader.load(Books.Opener.class, Books.Opener.class.getClassLoader())
                .findFirst()
                .orElseThrow(() -> Problem.misconfigured(
                        "system property " + Settings.DATABASE_URL + ": this application has its accounts in memory"));
    }
}
