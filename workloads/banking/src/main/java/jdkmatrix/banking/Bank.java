package jdkmatrix.banking;

import jdkmatrix.serverprobes.Problem;

/** The accounts and the remote system of this server process, made for the first request and from system properties. */
record Bank(Ledger ledger, RemoteSystem remote) {
    private static final Bank CONFIGURED;
    private static final String MISCONFIGURED;

    static {
        Bank bank = null;
        String problem = null;
        try {
            Settings settings = Settings.of(System::getProperty);
            bank = new Bank(
                    new Ledger(settings.accounts()), settings.client().of(settings.remote(), settings.timeout()));
        } catch (Problem wrong) {
            // Kept for every request: a class that failed to initialise would say it only once.
            problem = wrong.getMessage();
        }
        CONFIGURED = bank;
        MISCONFIGURED = problem;
    }

    /** @throws Problem 500 names the property that is missing or wrong */
    static Bank configured() {
        if (CONFIGURED == null) {
            throw Problem.misconfigured(MISCONFIGURED);
        }
        return CONFIGURED;
    }
}
