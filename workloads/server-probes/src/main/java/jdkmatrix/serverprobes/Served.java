package jdkmatrix.serverprobes;

import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * On whose threads requests began, counted since the start of the process.
 *
 * <p>Each request counts itself, on the thread that runs it, by the name that the maker of the thread gave it. So the
 * count holds for the server's own threads as for a plugged executor, and the cost (some 8 ns) is the same for all.
 */
final class Served {
    /** How request-executor names every thread that it makes. */
    static final String PLUGGED = "jdkmatrix-";

    private final LongAdder onServers = new LongAdder();
    private final LongAdder onPluggedVirtual = new LongAdder();
    private final LongAdder onPluggedPlatform = new LongAdder();
    private final LongAdder elsewhere = new LongAdder();

    void count(Thread thread) {
        adder(thread.getName(), thread.isVirtual()).increment();
    }

    private LongAdder adder(String name, boolean virtual) {
        if (name.startsWith(PLUGGED)) {
            return virtual ? onPluggedVirtual : onPluggedPlatform;
        }
        OwnExecutor own = OwnExecutor.ofThread(name);
        return own != null && own.virtual() == virtual ? onServers : elsewhere;
    }

    void putInto(Map<String, Object> answer) {
        answer.put("served_on_servers", onServers.sum());
        answer.put("served_on_plugged_virtual", onPluggedVirtual.sum());
        answer.put("served_on_plugged_platform", onPluggedPlatform.sum());
        answer.put("served_elsewhere", elsewhere.sum());
    }
}
