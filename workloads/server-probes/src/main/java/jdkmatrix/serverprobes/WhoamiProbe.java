package jdkmatrix.serverprobes;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.UnaryOperator;

/** {@code GET /whoami}: the thread that serves this very request. */
final class WhoamiProbe implements Probe {
    private static final char NUMBER = '#'; // follows the kind where threads are numbered

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

    /** Returns the kind of executor that named the thread: evidence, unlike a property that says what was asked for. */
    static String executor(String threadName) {
        OwnExecutor own = OwnExecutor.ofThread(threadName);
        if (own != null) {
            return own.name();
        }
        if (!threadName.startsWith(Served.PLUGGED)) {
            return "unknown";
        }
        int end = threadName.indexOf(NUMBER);
        return threadName.substring(Served.PLUGGED.length(), end < 0 ? threadName.length() : end);
    }
}
