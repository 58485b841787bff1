package jdkmatrix.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import jakarta.json.JsonObject;
import jakarta.json.JsonValue;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(600)
class RequestThreadsTest {
    private static final int CONNECTIONS = 50;
    private static final int REQUESTS = 5;
    private static final List<String> COUNTERS = List.of(
            "served_on_servers", "served_on_plugged_virtual", "served_on_plugged_platform", "served_elsewhere");
    private static final Set<String> POOLS_OF_3 = Set.of("own-3", "fixed-3", "virtual-pooled-3");

    /** Runs all exchanges at once, each on a persistent connection of its own. */
    private static <T> List<T> together(Running server, Exchange<T> exchange) throws Exception {
        List<Callable<T>> drivers = new ArrayList<>();
        for (int connection = 0; connection < CONNECTIONS; connection++) {
            drivers.add(() -> {
                try (Client client = server.connect()) {
                    return exchange.with(client);
                }
            });
        }
        List<T> results = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(CONNECTIONS)) {
            for (Future<T> driver : threads.invokeAll(drivers)) {
                results.add(driver.get());
            }
        }
        return results;
    }

    private interface Exchange<T> {
        T with(Client client) throws IOException;
    }

    private static void assertServed(int requests, String counter, JsonObject gauges) {
        COUNTERS.forEach(name -> assertEquals(name.equals(counter) ? requests : 0, gauges.getInt(name), name));
    }

    @ParameterizedTest
    @CsvSource({
        // threadsMax: how many requests run at once when every connection sends one
        "own, false, 50, served_on_servers",
        "own-3, false, 3, served_on_servers",
        "own-virtual-3, true, 3, served_on_servers",
        "virtual, true, 50, served_on_plugged_virtual",
        "virtual-bounded-3, true, 3, served_on_plugged_virtual",
        "virtual-pooled-3, true, 3, served_on_plugged_virtual",
        "platform, false, 50, served_on_plugged_platform",
        "cached, false, 50, served_on_plugged_platform",
        "fixed-3, false, 3, served_on_plugged_platform",
    })
    void requestsRunWhereTheExecutorSays(String executor, boolean virtual, int threadsMax, String counter)
            throws Exception {
        assumeTrue(Running.has(executor));
        int threads = executor.equals("own") ? Math.min(threadsMax, Running.OWN_AT_ONCE) : threadsMax;
        // No call to the remote system ends before as many are in flight as there can be.
        try (Remote remote = new Remote(threads);
                Running server = new Running("banking", executor, remote.properties())) {
            together(server, client -> {
                for (int request = 0; request < REQUESTS; request++) {
                    assertEquals(200, client.get("/banking/servlet/forward").status());
                }
                return null;
            });
            JsonObject gauges = server.gauges();
            assertServed(CONNECTIONS * REQUESTS, counter, gauges);
            assertEquals(threads, gauges.getInt("in_flight_peak"));
            assertEquals(0, gauges.getInt("in_flight"));
            boolean onVirtual = executor.equals("own") ? Running.OWN_VIRTUAL : virtual;
            assertThreads(executor, onVirtual, threads, gauges);

            Set<Long> threadIds = new HashSet<>();
            for (List<JsonObject> answers : together(server, RequestThreadsTest::whoAreYou)) {
                for (JsonObject whoami : answers) {
                    assertEquals(Running.isOwn(executor) ? "own" : executor, whoami.getString("executor"), whoami::toString);
                    assertEquals(onVirtual, whoami.getBoolean("virtual"));
                    threadIds.add(whoami.getJsonNumber("thread_id").longValue());
                }
            }
            if (isPerRequest(executor)) {
                assertEquals(CONNECTIONS * REQUESTS, threadIds.size());
                noThreadServesASecondRequestThatHasAlreadyCome(server, executor);
                assertServed(3 * CONNECTIONS * REQUESTS, counter, server.gauges());
            } else if (POOLS_OF_3.contains(executor)) {
                assertTrue(threadIds.size() <= threads, threadIds::toString);
            }
        }
    }

    private static List<JsonObject> whoAreYou(Client client) throws IOException {
        List<JsonObject> answers = new ArrayList<>();
        for (int request = 0; request < REQUESTS; request++) {
            answers.add(client.get("/banking/whoami").json());
        }
        return answers;
    }

    private static boolean isPerRequest(String executor) {
        return executor.matches("virtual(-bounded-3)?|platform");
    }

    private static void assertThreads(String executor, boolean virtual, int threads, JsonObject gauges) {
        if (Running.isOwn(executor)) {
            assertEquals(JsonValue.NULL, gauges.get("threads_started"));
            if (POOLS_OF_3.contains(executor)) {
                assertEquals(3, gauges.getInt("pool_size"));
            }
            if (!virtual) {
                assertTrue(gauges.getInt("pool_size") >= threads, gauges::toString);
                assertTrue(gauges.isNull("active") || gauges.getInt("active") >= 1, gauges::toString);
            }
        } else if (POOLS_OF_3.contains(executor)) {
            assertEquals(3, gauges.getInt("threads_started"));
            assertEquals(3, gauges.getInt("pool_size"));
        } else if (executor.equals("cached")) {
            assertTrue(gauges.getInt("threads_started") >= CONNECTIONS, gauges::toString);
        } else {
            assertTrue(gauges.getInt("threads_started") > CONNECTIONS * REQUESTS, gauges::toString);
        }
    }

    /**
     * Servers look for another request on the thread that has served one; Jetty, if that one was handed on, on a thread
     * of its own pool.
     */
    private static void noThreadServesASecondRequestThatHasAlreadyCome(Running server, String executor) throws Exception {
        int before = server.gauges().getInt("threads_started");
        String body = "{\"from\":\"000001\",\"to\":\"000002\",\"amount_minor\":1,\"currency\":\"EUR\",\"idempotency_key\":\"k\"}";
        String some = Client.getOf("/banking/whoami")
                + Client.postOf("/banking/servlet/transfers", body)
                + Client.getOf("/banking/servlet/forward")
                + Client.getOf("/banking/whoami");
        List<Set<Long>> seen = together(server, client -> {
            Set<Long> threadIds = new HashSet<>();
            client.send(some.repeat(REQUESTS));
            for (int request = 0; request < REQUESTS; request++) {
                threadIds.add(threadOf(client.receive(), executor));
                assertEquals(201, client.receive().status());
                assertEquals(200, client.receive().status());
                threadIds.add(threadOf(client.receive(), executor));
            }
            return threadIds;
        });
        Set<Long> threadIds = new HashSet<>();
        seen.forEach(threadIds::addAll);
        assertEquals(CONNECTIONS * REQUESTS * 2, threadIds.size());
        int after = server.gauges().getInt("threads_started");
        assertTrue(after - before > CONNECTIONS * REQUESTS * 4, before + " to " + after);
    }

    private static long threadOf(Client.Answer whoami, String executor) {
        assertEquals(executor, whoami.json().getString("executor"), whoami::body);
        return whoami.json().getJsonNumber("thread_id").longValue();
    }
}
