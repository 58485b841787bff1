package jdkmatrix.standalone.fanout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class FailureTest {
    static Stream<Arguments> failures() {
        return Stream.of(
                Arguments.of("too-many-open-files", new SocketException("Too many open files")),
                Arguments.of("too-many-open-files", new IOException("failed", new IOException("Too many open files"))),
                Arguments.of("no-free-port", new ConnectException("Cannot assign requested address")),
                Arguments.of("refused", new ConnectException("Connection refused")),
                Arguments.of("connect", new ConnectException("something else")),
                Arguments.of("timeout", new SocketTimeoutException("Read timed out")),
                Arguments.of("no-route", new NoRouteToHostException("No route to host")),
                Arguments.of("unknown-host", new UnknownHostException("nowhere")),
                Arguments.of("closed-by-server", new SocketException("Connection reset")),
                Arguments.of("closed-by-server", new SocketException("Unexpected end of file from server")),
                Arguments.of("out-of-memory", new OutOfMemoryError("Java heap space")),
                Arguments.of("IOException", new IOException((String) null)));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void isNamedByItsCause(String word, Throwable failure) {
        assertEquals(word, Failure.of(failure));
    }

    @Test
    void anAnswerIsNamedByItsStatus() {
        assertNull(Failure.of(200));
        assertNull(Failure.of(204));
        assertEquals("status-302", Failure.of(302));
        assertEquals("status-503", Failure.of(503));
        assertEquals("status--1", Failure.of(-1));
    }

    @ParameterizedTest
    @CsvSource({"1000,,1000,1.0", "1000,100,1000,10.0", "1000,3,200,66.8", "1,100,1000,1.0", "10,3,0,0.0"})
    void theIdealIsAWholeNumberOfDelays(int requests, Integer atOnce, double delayMs, double idealS) {
        assertEquals(idealS, FanoutExpectation.idealS(requests, atOnce, delayMs), 1e-9);
    }

    @Test
    void aPreviewIsToldByItsClassFile() throws IOException, ClassNotFoundException {
        assertFalse(StructuredFan.isPreview(Runnable.class));
        if (Runtime.version().feature() < 28) {
            assertTrue(StructuredFan.isPreview(Class.forName("java.util.concurrent.StructuredTaskScope")));
        }
    }

    @ParameterizedTest
    @CsvSource({"platform", "virtual", "structured", "fixed:7", "virtual-bounded:100"})
    void howIsWrittenAsItIsRead(String text) {
        assertEquals(text, How.parse(text).toString());
    }

    @ParameterizedTest
    @CsvSource({"fixed", "platform:2", "virtual-bounded:0", "structured:1", "fixed:two"})
    void otherHowsAreRefused(String text) {
        assertThrows(IllegalArgumentException.class, () -> How.parse(text));
    }
}
