package jdkmatrix.serverprobes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WhoamiProbeTest {
    @ParameterizedTest
    @CsvSource({
        "Default Executor-thread-12, liberty",
        "qtp1538399081-31, jetty",
        "jdkmatrix-virtual, virtual",
        "jdkmatrix-platform, platform",
        "jdkmatrix-cached-3, cached",
        "jdkmatrix-fixed-50-7, fixed-50",
        "jdkmatrix-fixed-1-1, fixed-1",
        "jdkmatrix-liberty-virtual-2, liberty-virtual",
        "jdkmatrix-fixed-50, unknown",
        "jdkmatrix-cached, unknown",
        "jdkmatrix-virtual-1, unknown",
        "Inbound Read Selector.1, unknown",
        "'', unknown",
    })
    void theThreadsNameSaysWhoMadeIt(String thread, String executor) {
        assertEquals(executor, WhoamiProbe.executor(thread));
    }
}
