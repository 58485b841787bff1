package jdkmatrix.banking;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.function.UnaryOperator;
import jdkmatrix.serverprobes.Parameters;
import jdkmatrix.serverprobes.Problem;

/**
 * The settings of the server process.
 *
 * @param remote the URL that every business request calls, with its query
 * @param accounts number of accounts
 * @param timeout for one call to the remote system
 * @param client the client that calls it
 */
record Settings(URI remote, int accounts, Duration timeout, RemoteSystem.Client client) {
    static final String REMOTE_URL = "jdkmatrix.remote.url";
    static final String REMOTE_TIMEOUT_MS = "jdkmatrix.remote.timeout_ms";
    static final String REMOTE_CLIENT = "jdkmatrix.remote.client";
    static final String ACCOUNTS = "jdkmatrix.banking.accounts";
    /** If set, the accounts are in that database and no remote system is called. */
    static final String DATABASE_URL = "jdkmatrix.database.url";

    private static final long MAX_TIMEOUT_MS = 3_600_000;
    private static final String DEFAULT_TIMEOUT_MS = "30000";
    private static final String DEFAULT_CLIENT = "http-client";

    /**
     * @param property returns a system property by name, or null
     * @throws Problem 500 naming the property that is missing or wrong
     */
    static Settings of(UnaryOperator<String> property) {
        String timeoutMs = property.apply(REMOTE_TIMEOUT_MS);
        String client = property.apply(REMOTE_CLIENT);
        return new Settings(
                remote(property.apply(REMOTE_URL)),
                accounts(property),
                Duration.ofMillis(Parameters.wholeProperty(
                        REMOTE_TIMEOUT_MS, timeoutMs == null ? DEFAULT_TIMEOUT_MS : timeoutMs, 1, MAX_TIMEOUT_MS)),
                RemoteSystem.Client.named(REMOTE_CLIENT, client == null ? DEFAULT_CLIENT : client));
    }

    /** @throws Problem 500 naming the property if it is missing or wrong */
    static int accounts(UnaryOperator<String> property) {
        return (int) Parameters.wholeProperty(ACCOUNTS, property.apply(ACCOUNTS), Ledger.MIN_ACCOUNTS, Ledger.MAX_ACCOUNTS);
    }

    private static URI remote(String text) {
        if (text != null) {
            try {
                URI url = new URI(text);
                if ("http".equals(url.getScheme()) && url.getHost() != null && url.getRawFragment() == null) {
                    return url;
                }
            } catch (URISyntaxException noUrl) {
                // Reported below, together with what is allowed.
            }
        }
        throw Problem.misconfigured("system property " + REMOTE_URL + ": expected a URL as in http://127.0.0.1:9999/answer?delay_us=2000,"
                + " found " + (text == null ? "nothing" : text));
    }
}
