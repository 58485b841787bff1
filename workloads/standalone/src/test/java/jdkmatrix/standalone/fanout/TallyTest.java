package jdkmatrix.standalone.fanout;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.Proxy;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLStreamHandler;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class TallyTest {
    @BeforeAll
    static void knowAProtocol() {
        URL.setURLStreamHandlerFactory(protocol -> protocol.equals("gone") ? new Gone() : null);
    }

    @Test
    void aRequestThatEndsInAnErrorIsAFailedOne() throws IOException {
        Tally tally = new Tally(new Get("gone://here/", 1));
        tally.send();
        assertEquals(
                1, tally.errors().values().stream().mapToLong(Long::longValue).sum());
    }

    private static final class Gone extends URLStreamHandler {
        @Override
        protected URLConnection openConnection(URL url) {
            throw new NoClassDefFoundError("gone");
        }

        @Override
        protected URLConnection openConnection(URL url, Proxy proxy) {
            return openConnection(url);
        }
    }
}
