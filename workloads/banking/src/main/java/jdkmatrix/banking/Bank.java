package jdkmatrix.banking;

import java.util.ServiceLoader;
import java.util.concurrent.locks.ReentrantLock;
import jdkmatrix.serverprobes.Problem;

/** The books and the remote system of this server process, created from system properties on the first request. */
record Bank(Books books, RemoteSystem remote) {
    private static final ReentrantLock MAKING = new ReentrantLock();
    private static volatile Bank configured;
    /** Null if the ServiceLoader is to find it. */
    private static volatile Books.Opener opener;
    /** The reason that every later request is given. */
    private static String misconfigured;

    /**
     * Opening books that are not in memory waits for a socket. In a class initialiser a virtual thread would pin its
     * carrier meanwhile, and if that were the only one, nobody could read from the socket.
     *
     * @throws Problem 500 naming the property that is missing or wrong
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
