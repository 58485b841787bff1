package jdkmatrix.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.json.JsonObject;
import java.io.IOException;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ApplicationTest {
    private static final String BURNS = "-Djdkmatrix.burn.rounds_per_us=10";

    private static String transfer(String from, int amountMinor, String key) {
        return """
                {"from":"%s","to":"000002","amount_minor":%d,"currency":"EUR","idempotency_key":"%s"}"""
                .formatted(from, amountMinor, key);
    }

    /** The order of the JSON members is up to the server; some name the charset even where it is implied. */
    private static void assertAnswer(int status, String contentType, String body, Client.Answer answer) {
        if (contentType.equals("application/json")) {
            assertEquals(new Client.Answer(status, "", body).json(), answer.json());
            assertEquals(body.length(), answer.body().length());
        } else {
            assertEquals(body, answer.body());
        }
        assertEquals(status, answer.status());
        String found = answer.header("Content-Type").toLowerCase(Locale.ROOT);
        assertTrue(Set.of(contentType, contentType + ";charset=utf-8").contains(found), found);
    }

    private static void assertLine(int status, String line, Client.Answer answer) {
        assertAnswer(status, "text/plain;charset=utf-8", line + "\n", answer);
    }

    @Test
    void mpPing() throws IOException {
        try (Running server = new Running("mp-ping", "own", BURNS);
                Client client = server.connect()) {
            assertAnswer(200, "text/plain;charset=utf-8", "pong", client.get("/mp-ping/ping"));
            assertAnswer(200, "text/plain;charset=utf-8", "pong", client.get("/mp-ping/ping?burn_us=5"));
            assertLine(400, "burn_us: expected a whole number from 0 to 10000000, found -1", client.get("/mp-ping/ping?burn_us=-1"));
            assertEquals(404, client.get("/ping").status());
            assertEquals(404, client.get("/mp-ping/accounts").status());
            assertEquals(3, client.get("/mp-ping/gauges").json().getInt("served_on_servers"));
            assertProbes(server, client, "mp-ping");
        }
    }

    @Test
    void banking() throws IOException {
        try (Remote remote = new Remote(0);
                Running server = new Running("banking", "own", remote.properties());
                Client client = server.connect()) {
            assertAnswer(
                    200,
                    "application/json",
                    "{\"accounts\":100,\"currency\":\"EUR\",\"entries_kept\":32,\"idempotency_keys_kept\":655,"
                            + "\"opening_balance_minor\":100000000}",
                    client.get("/banking/accounts"));
            Client.Answer booked = client.post("/banking/servlet/transfers?burn_us=1", transfer("000001", 30, "k1"));
            assertAnswer(
                    201,
                    "application/json",
                    "{\"from_balance_minor\":99999970,\"to_balance_minor\":100000030,\"transfer_id\":1}",
                    booked);
            assertEquals(String.valueOf(Remote.ANSWER.length()), booked.header("X-Remote-Bytes"));
            assertAnswer(
                    200,
                    "application/json",
                    "{\"account\":\"000002\",\"balance_minor\":100000030,\"currency\":\"EUR\"}",
                    client.get("/banking/servlet/accounts/000002"));
            JsonObject statement = client.get("/banking/servlet/accounts/000002/statement?page=0&size=1").json();
            assertEquals(30, statement.getInt("credits_minor"));
            assertEquals("000001", statement.getJsonArray("entries").getJsonObject(0).getString("counterparty"));
            assertAnswer(200, "application/json", Remote.ANSWER, client.get("/banking/servlet/forward"));
            assertLine(404, "there is no account \"000100\"", client.get("/banking/servlet/accounts/000100"));
            assertLine(
                    409,
                    "idempotency_key: account 000001 used it for another transfer",
                    client.post("/banking/servlet/transfers", transfer("000001", 31, "k1")));
            assertLine(
                    422,
                    "account 000001 has 99999970, less than 100000000",
                    client.post("/banking/servlet/transfers", transfer("000001", 100_000_000, "k2")));
            Client.Answer unreadable = client.post("/banking/servlet/transfers", "{\"from\":");
            assertEquals(400, unreadable.status());
            assertTrue(unreadable.body().startsWith("body: not the JSON that was expected: "), unreadable.body());
            assertEquals(1, unreadable.body().lines().count());
            // Not found, or not allowed.
            assertTrue(Set.of(404, 405).contains(client.post("/banking/servlet/forward", "{}").status()));
            JsonObject audit = client.get("/banking/audit").json();
            assertTrue(audit.getBoolean("conserved"));
            assertEquals(1, audit.getInt("transfers_done"));
            assertEquals(7, client.get("/banking/gauges").json().getInt("served_on_servers"));
            assertProbes(server, client, "banking");
        }
    }

    @Test
    void pinning() throws IOException {
        try (Running server = new Running("pinning", "own", BURNS);
                Client client = server.connect()) {
            assertLine(200, "ready", client.get("/pinning/servlet/ready"));
            assertLine(200, "at most 0 ms", client.post("/pinning/servlet/limit?at_most_ms=0", ""));
            assertLine(200, "blocked", client.get("/pinning/servlet/block?construct=synchronized&block_ms=600000&burn_us=1"));
            assertEquals(400, client.get("/pinning/servlet/block?construct=synchronized").status());
            assertEquals(2, client.get("/pinning/gauges").json().getInt("served_on_servers"));
            assertProbes(server, client, "pinning");
        }
    }

    /** The probes are beside every application. */
    private static void assertProbes(Running server, Client client, String application) throws IOException {
        assertEquals(application, server.ready().getString("application"));
        assertEquals("own", server.ready().getString("executor"));
        assertEquals("own", client.get("/" + application + "/whoami").json().getString("executor"));
        assertEquals(7, client.get("/" + application + "/burn?rounds=7&repeats=2").json().getInt("rounds"));
        Client.Answer gauges = client.get("/" + application + "/gauges?reset=peak");
        assertEquals(0, gauges.json().getInt("in_flight"));
        assertNull(gauges.header("Server"));
        assertNotEquals("close", gauges.header("Connection"));
    }
}
