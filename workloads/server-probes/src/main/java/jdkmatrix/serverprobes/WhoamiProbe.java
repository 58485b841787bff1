package jdkmatrix.serverprobes;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code GET /whoami}: the thread that serves this very request. */
final class WhoamiProbe implements Probe {
    // Threads that live for one request have no number of their own, those of a pool have one.
    private static final Pattern PER_REQUEST = Pattern.compile("jdkmatrix-(virtual|platform)");
    private static final Pattern POOLED = Pattern.compile("jdkmatrix-(cached|fixed-\\d+|liberty-virtual)-\\d+");

    @Override
    public String answer(UnaryOperator<String> none) {
        Thread thread = Thread.currentThread();
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("thread", thread.getName());
        answer.put("thread_id", thread.threadId());
        answer.put("virtual", thread.isVirtual());
        answer.put("executor", executor(thread.getName()));
        answer.put("java_version", System.getProperty("java.version"));
        answer.put("vm_name", System.getProperty("java.vm.name"));
        return Json.object(answer);
    }

    /** The kind of executor that named the thread: evidence, unlike a property that says what was asked for. */
    static String executor(String threadName) {
        OwnPool own = OwnPool.ofThread(threadName);
        if (own != null) {
            return own.executor();
        }
        for (Pattern ours : List.of(PER_REQUEST, POOLED)) {
            Matcher match = ours.matcher(threadName);
            if (match.matches()) {
                return match.group(1);
            }
        }
        return "unknown";
    }
}
