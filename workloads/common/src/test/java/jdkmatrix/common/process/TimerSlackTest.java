package jdkmatrix.common.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class TimerSlackTest {
    private static String slackNs() throws IOException {
        return Files.readString(TimerSlack.file()).strip();
    }

    private static <T> T onAnotherThread(Callable<T> look) throws Exception {
        try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
            return thread.submit(look).get();
        }
    }

    @Test
    void theCallingThreadAloneIsWokenOnTime() throws Exception {
        List<String> kept = new ArrayList<>();
        String before = onAnotherThread(TimerSlackTest::slackNs);
        String minimised = onAnotherThread(() -> {
            TimerSlack.minimise(kept::add);
            return slackNs();
        });
        assertEquals(kept.isEmpty() ? "1" : before, minimised, kept.toString());
        assertEquals(before, onAnotherThread(TimerSlackTest::slackNs));
    }
}
