package jdkmatrix.serverprobes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProbeServletTest {
    private final Map<String, Object> set = new HashMap<>();
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();

    private static HttpServletRequest request(Map<String, String> parameters) {
        return (HttpServletRequest) Proxy.newProxyInstance(
                ProbeServletTest.class.getClassLoader(),
                new Class<?>[] {HttpServletRequest.class},
                (self, method, of) -> parameters.get(of[0]));
    }

    private HttpServletResponse response() {
        return (HttpServletResponse) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {HttpServletResponse.class}, (self, method, of) -> {
                    if (method.getName().equals("getOutputStream")) {
                        return new Written();
                    }
                    set.put(method.getName(), of[0]);
                    return null;
                });
    }

    private final class Written extends ServletOutputStream {
        @Override
        public void write(int b) {
            body.write(b);
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setWriteListener(WriteListener listener) {
            throw new UnsupportedOperationException();
        }
    }

    private void get(Probe probe, Map<String, String> parameters) throws IOException {
        new ProbeServlet(probe).doGet(request(parameters), response());
        assertEquals(body.size(), set.get("setContentLength"));
    }

    private String text() {
        return body.toString(StandardCharsets.UTF_8);
    }

    @Test
    void anAnswerIsJson() throws IOException {
        get(new BurnProbe(), Map.of("rounds", "1000", "repeats", "2"));
        assertEquals(200, set.get("setStatus"));
        assertEquals("application/json", set.get("setContentType"));
        assertTrue(text().startsWith("{") && text().endsWith("}") && text().contains("\"rounds\":1000"), text());
    }

    @Test
    void thePeakIsAnsweredAndThenStartsAnew() throws IOException {
        InFlight.REQUESTS.enter();
        InFlight.REQUESTS.leave();
        for (int peak : new int[] {1, 0}) {
            body.reset();
            get(new GaugesProbe(), Map.of("reset", "peak"));
            assertTrue(text().contains("\"in_flight\":0,\"in_flight_peak\":" + peak + ","), text());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "rounds, 0, 'rounds: expected a whole number from 1 to 2000000000000, found 0'",
        "rounds, 2000000000000, 'rounds times repeats: at most 2000000000000, found 4000000000000'",
        "repeats, é, 'repeats: expected a whole number from 1 to 10000, found é'",
        "repeats, , 'repeats: expected a whole number from 1 to 10000, found nothing'",
    })
    void aProblemIsOneLine(String name, String value, String line) throws IOException {
        Map<String, String> parameters = new HashMap<>(Map.of("rounds", "100", "repeats", "2"));
        parameters.put(name, value);
        get(new BurnProbe(), parameters);
        assertEquals(400, set.get("setStatus"));
        assertEquals("text/plain;charset=utf-8", set.get("setContentType"));
        assertEquals(line + "\n", text());
    }

    @Test
    void nothingButThePeakStartsAnew() throws IOException {
        get(new GaugesProbe(), Map.of("reset", "all"));
        assertEquals(400, set.get("setStatus"));
        assertEquals("reset: allowed is peak, found all\n", text());
    }
}
