package jdkmatrix.serverprobes;

import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts on whose threads requests began, since the start of the process.
 *
 * <p>Each request counts itself, on the thread that runs it, by the name that the maker of the thread gave it. So the
 * count covers the server's own threads as well as a plugged executor's, at the same cost: a LongAdder would give each
 * thread of a pool a cell of its own, while all threads that live for a single request would contend for one.
 */
final class Served {
    /** The prefix of every thread name that request-executor gives. */
    static final String PLUGGED = "jdkmatrix-";

    private final AtomicLong onServers = new AtomicLong();
    private final AtomicLong onPluggedVirtual = new AtomicLong();
    private final AtomicLong onPluggedPlatform = new AtomicLong();
    private final AtomicLong elsewhere = new AtomicLong();

    void count(Thread thread) {
        counter(thread.getName(), thread.isVirtual()).incrementAndGet();
    }

    private AtomicLong counter(String name, boolean virtual) {
        if (name.startsWith(PLUGGED)) {
            return virtual ? onPluggedVirtual : onPluggedPlatform;
        }
        OwnExecutor own = OwnExecutor.ofThread(name);
        return own != null && own.virtual() == virtual ? onServers : elsewhere;
    }

    void putInto(Map<String, Object> answer) {
        answer.put("served_on_servers", onServers.get());
        answer.put("served_on_plugged_virtual", onPluggedVirtual.get());
        answer.put("served_on_plugged_platform", onPluggedPlatform.get());
        answer.put("served_elsewhere", elsewhere.get());
    }
}
