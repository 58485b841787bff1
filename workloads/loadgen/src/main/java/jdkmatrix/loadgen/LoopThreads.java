package jdkmatrix.loadgen;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import jdkmatrix.common.process.TimerSlack;

/** Makes the threads of event loops, one for each: they wake on time, and their CPU times can be read separately. */
final class LoopThreads extends DefaultThreadFactory {
    private final ThreadMXBean clocks = ManagementFactory.getThreadMXBean();
    private final List<Thread> made = new CopyOnWriteArrayList<>();

    LoopThreads() {
        super("loadgen", true);
    }

    @Override
    protected Thread newThread(Runnable task, String name) {
        Thread thread = super.newThread(
                () -> {
                    TimerSlack.minimise(kept -> System.err.println("loadgen: " + kept));
                    task.run();
                },
                name);
        made.add(thread);
        return thread;
    }

    /** Returns the CPU time of each thread so far, in nanoseconds, in the order in which they were made. */
    long[] cpuNs() {
        return made.stream().mapToLong(thread -> clocks.getThreadCpuTime(thread.threadId())).toArray();
    }

    /** Returns the CPU time of the thread that has used the most since {@link #cpuNs} returned {@code sinceNs}. */
    long busiestNs(long[] sinceNs) {
        long[] nowNs = cpuNs();
        return IntStream.range(0, sinceNs.length)
                .mapToLong(i -> nowNs[i] - sinceNs[i])
                .max()
                .orElseThrow();
    }
}
