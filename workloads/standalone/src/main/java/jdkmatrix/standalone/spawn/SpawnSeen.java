package jdkmatrix.standalone.spawn;

import jdkmatrix.standalone.process.MemoryUse;

/**
 * The figures of the threads. Times count from before the first of them was made.
 *
 * @param started how many could be started
 * @param startedS until the last call of Thread.start returned, which is what the published program measured
 * @param runningS until the last thread ran its first instruction; null: not all of them did in time
 * @param doneS until the last task was over; null: not all of them were in time, or their sleep was cut short
 * @param live threads that were alive when the memory was read; null where it was not
 * @param before read after a few threads of this kind had come and gone and after a garbage collection, unless cold
 * @param whileLive null unless the task sleeps: other threads end by themselves
 * @param perThread (whileLive - before) / live
 * @param peak of the whole process, from the start of the JVM until the threads are told to end
 * @param threadStackBytes the JVM's default, -Xss; null where it does not say
 * @param roundsPerUs as calibrated before; null unless the task burns
 */
public record SpawnSeen(
        int started,
        double startedS,
        Double runningS,
        Double doneS,
        Integer live,
        MemoryUse before,
        MemoryUse whileLive,
        MemoryUse.PerThread perThread,
        MemoryUse.Peak peak,
        Long threadStackBytes,
        Double roundsPerUs) {}
