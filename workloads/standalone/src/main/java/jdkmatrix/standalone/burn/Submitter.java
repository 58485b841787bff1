package jdkmatrix.standalone.burn;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import jdkmatrix.common.process.Cpu;
import jdkmatrix.standalone.result.Outcome;

/**
 * Submits tasks from the calling thread, which is not one of the executor's, as a server's network thread does.
 *
 * <p>At a constant rate, each task has its own intended moment; when the submitter is late, it submits the backlog at
 * once, and latency counts from the intended moment. In a closed loop, this same thread keeps the number in flight, not
 * the tasks: a task that submits the next one would put it on its own worker's queue.
 */
final class Submitter {
    private final Executor executor;
    private final ConstantRate rate;
    private final Integer inFlight;
    private final long rounds;

    /** @param rate null: closed loop of {@code inFlight} */
    Submitter(Executor executor, ConstantRate rate, Integer inFlight, long rounds) {
        this.executor = executor;
        this.rate = rate;
        this.inFlight = inFlight;
        this.rounds = rounds;
    }

    /** Submits for a while, then waits at most {@code drainNs} for unfinished tasks, and abandons the rest. */
    Period run(long durationNs, long drainNs) throws InterruptedException {
        TaskLog log = new TaskLog();
        Flight flight = new Flight(inFlight);
        Outcome outcome = Outcome.complete();
        long cpuFromNs = Cpu.processNs();
        long startNs = System.nanoTime();
        long endNs = startNs + durationNs;
        try {
            if (rate == null) {
                keepInFlight(log, flight, endNs);
            } else {
                keepRate(log, flight, startNs, endNs);
            }
            waitUntil(endNs);
        } catch (OutOfMemoryError error) {
            outcome = Outcome.of(error, (long) log.size());
            endNs = System.nanoTime();
        } catch (RejectedExecutionException refused) {
            outcome = new Outcome(
                    Outcome.Kind.TASKS_REFUSED, String.valueOf(refused.getMessage()), (long) log.size(), null);
            endNs = System.nanoTime();
        }
        long cpuNs = Cpu.processNs() - cpuFromNs;
        long drainedNs = drain(log, flight, drainNs);
        long due = rate == null ? log.size() : Math.max(log.size(), rate.due(endNs - startNs));
        return new Period(log, rate, startNs, endNs, drainedNs, due, cpuNs, outcome);
    }

    private void keepRate(TaskLog log, Flight flight, long startNs, long endNs) throws InterruptedException {
        for (long task = 0; ; task++) {
            long intendedNs = startNs + rate.offsetNs(task);
            if (intendedNs >= endNs) {
                return;
            }
            long nowNs = waitUntil(intendedNs);
            if (nowNs >= endNs) {
                return;
            }
            submit(log, flight, nowNs);
        }
    }

    private void keepInFlight(TaskLog log, Flight flight, long endNs) throws InterruptedException {
        long leftNs = endNs - System.nanoTime();
        while (leftNs > 0 && flight.awaitRoom(leftNs)) {
            long nowNs = System.nanoTime();
            if (nowNs >= endNs) {
                return;
            }
            submit(log, flight, nowNs);
            leftNs = endNs - System.nanoTime();
        }
    }

    private void submit(TaskLog log, Flight flight, long nowNs) {
        TaskLog.Entry entry = log.add(nowNs);
        try {
            executor.execute(new Task(entry, rounds, flight));
        } catch (RejectedExecutionException | OutOfMemoryError refused) {
            log.dropLast();
            throw refused;
        }
    }

    private static long drain(TaskLog log, Flight flight, long drainNs) throws InterruptedException {
        long giveUpNs = System.nanoTime() + drainNs;
        while (flight.finished() < log.size() && System.nanoTime() < giveUpNs) {
            Thread.sleep(1);
        }
        flight.abandon();
        return System.nanoTime();
    }

    /** @return the time after the wait */
    private static long waitUntil(long ns) throws InterruptedException {
        long nowNs = System.nanoTime();
        while (nowNs < ns) {
            LockSupport.parkNanos(ns - nowNs);
            if (Thread.interrupted()) {
                throw new InterruptedException("while tasks were submitted");
            }
            nowNs = System.nanoTime();
        }
        return nowNs;
    }
}
