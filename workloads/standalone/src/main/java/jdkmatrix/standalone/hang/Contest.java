package jdkmatrix.standalone.hang;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Threads that queue for one lock, which a platform thread holds meanwhile. The first in the queue holds nothing else;
 * all others are inside a monitor or lock of their own, which no other thread wants. So the first is next once the lock
 * is free, and runs if it finds a carrier.
 */
final class Contest {
    private static final long LOOK_MS = 5;

    private final HangPlan plan;
    private final ReentrantLock wanted = new ReentrantLock();
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicInteger had = new AtomicInteger();
    private final CountDownLatch over;
    /** Both are written by the thread that has the lock, and by the one that watches the contest. */
    private volatile long progressNs;

    private volatile long standstillNs;

    Contest(HangPlan plan) {
        this.plan = plan;
        this.over = new CountDownLatch(plan.count());
    }

    /**
     * Takes the lock, and returns once {@code waiting} threads wait for it or the patience is over.
     *
     * @param waiting at most as many as can get that far
     * @return whether they got there in time
     */
    boolean queue(int waiting) throws InterruptedException {
        wanted.lock();
        Thread.Builder builder = plan.virtual() ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
        start(builder, this::turn);
        if (!waits(1)) {
            return false;
        }
        for (int i = 1; i < plan.count(); i++) {
            start(builder, inside());
        }
        return waits(waiting);
    }

    /** Releases the lock and returns the time of that, as System.nanoTime. */
    long free() {
        long freeNs = System.nanoTime();
        progressNs = freeNs;
        wanted.unlock();
        return freeNs;
    }

    /** Waits until all have ended, or none has got the lock for too long. @return whether all have ended */
    boolean await() throws InterruptedException {
        while (!over.await(LOOK_MS, TimeUnit.MILLISECONDS)) {
            long stillNs = System.nanoTime() - progressNs;
            if (stillNs > plan.patienceNs()) {
                standstillNs = Math.max(standstillNs, stillNs);
                return false;
            }
        }
        return true;
    }

    /** Interrupts one thread that waits for the lock inside a monitor or lock of its own. */
    void interruptOne() {
        progressNs = System.nanoTime();
        threads.stream().skip(1).filter(wanted::hasQueuedThread).findFirst().ifPresent(Thread::interrupt);
    }

    int had() {
        return had.get();
    }

    long standstillNs() {
        return standstillNs;
    }

    boolean isFree() {
        return !wanted.isLocked();
    }

    int waiting() {
        return wanted.getQueueLength();
    }

    List<HangSeen.Stack> stacks() {
        return threads.stream()
                .filter(Thread::isAlive)
                .map(thread -> Arrays.stream(thread.getStackTrace()).map(StackTraceElement::toString).toList())
                .collect(Collectors.groupingBy(Function.identity(), Collectors.summingInt(same -> 1)))
                .entrySet()
                .stream()
                .map(same -> new HangSeen.Stack(same.getValue(), same.getKey()))
                .sorted(Comparator.comparingInt(HangSeen.Stack::threads).reversed())
                .toList();
    }

    private boolean waits(int waiting) throws InterruptedException {
        long giveUpNs = System.nanoTime() + plan.patienceNs();
        while (wanted.getQueueLength() < waiting) {
            if (System.nanoTime() > giveUpNs) {
                return false;
            }
            Thread.sleep(LOOK_MS);
        }
        return true;
    }

    private void start(Thread.Builder builder, Runnable code) {
        threads.add(builder.start(() -> {
            try {
                code.run();
            } finally {
                over.countDown();
            }
        }));
    }

    private Runnable inside() {
        if (plan.inside().equals("lock")) {
            ReentrantLock own = new ReentrantLock();
            return () -> {
                own.lock();
                try {
                    turn();
                } finally {
                    own.unlock();
                }
            };
        }
        Object own = new Object();
        return () -> {
            synchronized (own) {
                turn();
            }
        };
    }

    private void turn() {
        try {
            wanted.lockInterruptibly();
        } catch (InterruptedException giveUp) {
            return;
        }
        try {
            long nowNs = System.nanoTime();
            standstillNs = Math.max(standstillNs, nowNs - progressNs);
            progressNs = nowNs;
            had.incrementAndGet();
            TimeUnit.MILLISECONDS.sleep(plan.holdMs());
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        } finally {
            wanted.unlock();
        }
    }
}
