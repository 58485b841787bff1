package jdkmatrix.serverprobes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServedTest {
    private final InFlight requests = new InFlight();

    @ParameterizedTest
    @CsvSource({
        "Default Executor-thread-12, false, served_on_servers",
        "own-virt-3, true, served_on_servers",
        "jdkmatrix-virtual, true, served_on_plugged_virtual",
        "jdkmatrix-liberty-virtual#2, true, served_on_plugged_virtual",
        "jdkmatrix-platform, false, served_on_plugged_platform",
        "jdkmatrix-fixed-50#7, false, served_on_plugged_platform",
        "Inbound Read Selector.1, false, served_elsewhere",
        "Default Executor-thread-12, true, served_elsewhere",
        "own-virt-3, false, served_elsewhere",
        "'', true, served_elsewhere",
    })
    void aRequestCountsItselfOnTheThreadThatRunsIt(String name, boolean virtual, String counter)
            throws InterruptedException {
        Thread.Builder threads = virtual ? Thread.ofVirtual() : Thread.ofPlatform();
        for (int request = 0; request < 3; request++) {
            threads.name(name)
                    .start(() -> {
                        requests.enter();
                        requests.leave();
                    })
                    .join();
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        requests.served().putInto(answer);
        assertEquals(4, answer.size());
        answer.forEach((key, count) -> assertEquals(key.equals(counter) ? 3L : 0L, count, key));
    }
}
