package jdkmatrix.banking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LedgerThreadsTest {
    private static final int ACCOUNTS = 4;
    private static final int THREADS = 32;
    private static final int TRANSFERS = 2_000;
    // A deadlock never ends; everything else does, however slow the machine.
    private static final int STUCK_MINUTES = 1;

    static Stream<ThreadFactory> threads() {
        return Stream.of(Thread.ofPlatform().daemon().factory(), Thread.ofVirtual().factory());
    }

    private static <T> List<T> inParallel(ThreadFactory threads, List<Callable<T>> tasks)
            throws InterruptedException, ExecutionException {
        // Not closed: that would wait for stuck threads.
        ExecutorService executor = Executors.newThreadPerTaskExecutor(threads);
        List<T> results = new ArrayList<>();
        for (Future<T> future : executor.invokeAll(tasks, STUCK_MINUTES, TimeUnit.MINUTES)) {
            assertFalse(future.isCancelled(), "threads are stuck");
            results.add(future.get());
        }
        executor.shutdown();
        return results;
    }

    /** Transfers among few accounts, in all directions. */
    @ParameterizedTest
    @MethodSource("threads")
    void moneyIsConservedAndNobodyWaitsForever(ThreadFactory threads) throws Exception {
        Ledger ledger = new Ledger(ACCOUNTS);
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
            int seed = thread;
            tasks.add(() -> {
                SplittableRandom random = new SplittableRandom(seed);
                int booked = 0;
                for (int n = 0; n < TRANSFERS; n++) {
                    int from = random.nextInt(ACCOUNTS);
                    int to = (from + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
                    // Large enough that accounts run dry now and then.
                    Transfer transfer = new Transfer(
                            "%06d".formatted(from), "%06d".formatted(to), random.nextLong(1, Ledger.OPENING_MINOR));
                    booked += ledger.transfer(seed + "-" + n, transfer) instanceof Outcome.Booked ? 1 : 0;
                }
                return booked;
            });
        }
        int booked = inParallel(threads, tasks).stream().mapToInt(Integer::intValue).sum();
        Audit audit = ledger.audit();
        assertTrue(audit.conserved(), audit::toString);
        assertEquals(booked, audit.transfersDone());
        assertTrue(booked < THREADS * TRANSFERS, "some had insufficient funds");
    }

    /** All threads use one key at the same time, again and again; none is forgotten meanwhile. */
    @ParameterizedTest
    @MethodSource("threads")
    void ofManyAtTheSameTimeOneMovesMoney(ThreadFactory threads) throws Exception {
        Ledger ledger = new Ledger(ACCOUNTS);
        int keys = ledger.keysKept();
        CyclicBarrier together = new CyclicBarrier(THREADS);
        List<Callable<List<Outcome>>> tasks = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
            tasks.add(() -> {
                List<Outcome> outcomes = new ArrayList<>();
                for (int key = 0; key < keys; key++) {
                    together.await();
                    outcomes.add(ledger.transfer("k" + key, new Transfer("000000", "000001", 10)));
                }
                return outcomes;
            });
        }
        Set<List<Outcome>> answers = new HashSet<>(inParallel(threads, tasks));
        assertEquals(1, answers.size(), "everybody got the first answer");
        assertEquals(keys, ledger.audit().transfersDone());
        assertEquals(Ledger.OPENING_MINOR - keys * 10, ledger.find("000000").balanceMinor());
        assertTrue(ledger.audit().conserved());
    }
}
