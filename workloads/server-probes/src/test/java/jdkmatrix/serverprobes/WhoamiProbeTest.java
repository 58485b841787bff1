package jdkmatrix.serverprobes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WhoamiProbeTest {
    @ParameterizedTest
    @CsvSource({
        "Default Executor-thread-12, liberty",
        "other-pool-1, another",
        "own-virt-3, liberty-own-virtual",
        "jdkmatrix-virtual, virtual",
        "jdkmatrix-platform, platform",
        "jdkmatrix-cached#3, cached",
        "jdkmatrix-fixed-50#7, fixed-50",
        "jdkmatrix-virtual-bounded-16, virtual-bounded-16",
        "jdkmatrix-virtual-pooled-16#3, virtual-pooled-16",
        "jdkmatrix-liberty-virtual#2, liberty-virtual",
        "Inbound Read Selector.1, unknown",
        "'', unknown",
    })
    void theThreadsNameSaysWhoMadeIt(String thread, String executor) {
        assertEquals(executor, WhoamiProbe.executor(thread));
    }
}
