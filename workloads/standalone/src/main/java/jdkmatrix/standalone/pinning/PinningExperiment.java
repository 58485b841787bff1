package jdkmatrix.standalone.pinning;

import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import jdkmatrix.common.histogram.Distribution;
import jdkmatrix.common.jvm.Carriers;
import jdkmatrix.common.process.Cpu;
import jdkmatrix.standalone.process.FlightRecording;
import jdkmatrix.standalone.process.Sampler;
import jdkmatrix.standalone.result.Expected;
import jdkmatrix.standalone.result.Findings;
import jdkmatrix.standalone.result.MeasuredSpan;
import jdkmatrix.standalone.result.Outcome;

/** Starts the threads, looks at carriers and pinning while they block, and ends them. */
final class PinningExperiment {
    private static final long SAMPLE_MS = 50;
    private static final long END_S = 30;

    private final PinningPlan plan;
    private final Consumer<String> say;
    private final Construct construct;
    private final AtomicInteger mostCarriers = new AtomicInteger();

    PinningExperiment(PinningPlan plan, Consumer<String> say) {
        this.plan = plan;
        this.say = say;
        this.construct = Construct.parse(plan.construct());
    }

    Findings run() throws Exception {
        Expected expected = PinningExpectation.of(
                plan, Runtime.version().feature(), Carriers.parallelism(), Carriers.maxPoolSize());
        if (construct == Construct.NATIVE && !ForeignUpcall.isPossible()) {
            return Findings.none(
                    Outcome.notOnThisJdk("java.lang.foreign is not final before JDK 22", "JDK 22 or later"), expected);
        }
        return Findings.of(expected, () -> block(expected));
    }

    private Findings block(Expected expected) throws Exception {
        String withoutEvents = plan.virtual() ? FlightRecording.unavailable() : "only virtual threads can be pinned";
        if (withoutEvents != null) {
            return measure(expected, null, PinnedReport.unavailable(withoutEvents));
        }
        try (PinnedProbe probe = PinnedProbe.start()) {
            return measure(expected, probe, null);
        }
    }

    /** @param none what is reported without a probe */
    private Findings measure(Expected expected, PinnedProbe probe, PinnedReport none) throws Exception {
        // Made before the clock runs, so that a thread that waits for its start waits for a carrier, not for this.
        Blocking[] blockings = blockings();
        try (Sampler carriers = new Sampler("carriers", SAMPLE_MS, this::lookAtCarriers)) {
            if (plan.virtual()) {
                carriers.start();
            }
            say.accept("%d %s threads block for %d ms in %s, again and again"
                    .formatted(plan.loops(), plan.virtual() ? "virtual" : "platform", plan.blockMs(), construct.word()));
            Contention contention = contention();
            Loops loops = new Loops(ns(plan.warmupS()), ns(plan.durationS()));
            Outcome outcome = Outcome.complete();
            MeasuredSpan span = null;
            long cpuNs = 0;
            Instant from = Instant.now();
            Instant to = from;
            try (contention) {
                start(loops, blockings);
                sleepUntil(loops.fromNs());
                from = Instant.now();
                long cpuFromNs = Cpu.processNs();
                sleepUntil(loops.endNs());
                to = Instant.now();
                cpuNs = Cpu.processNs() - cpuFromNs;
                span = new MeasuredSpan(loops.fromNs(), loops.endNs());
            } catch (OutOfMemoryError error) {
                outcome = Outcome.of(error, (long) loops.started());
                loops.stop();
            }
            long giveUpNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_S) + TimeUnit.MILLISECONDS.toNanos(plan.blockMs());
            int alive = loops.join(giveUpNs);
            if (outcome.isComplete()) {
                loops.rethrow();
            }
            if (alive > 0 && outcome.isComplete()) {
                String text = "%d of %d threads had not ended in time".formatted(alive, loops.started());
                outcome = new Outcome(Outcome.Kind.TIMED_OUT, text, null, null);
            }
            if (span == null) {
                return Findings.none(outcome, expected);
            }
            PinnedReport pinned = probe == null ? none : probe.finish(from, to);
            return new Findings(outcome, expected, seen(loops, cpuNs / 1e9, pinned), span);
        }
    }

    private PinningSeen seen(Loops loops, double cpuS, PinnedReport pinned) {
        return new PinningSeen(
                loops.started(),
                plan.durationS(),
                loops.operations(),
                loops.operations() / plan.durationS(),
                Distribution.of(loops.latency()),
                loops.lowerBounds(),
                loops.served(),
                cpuS,
                plan.virtual() ? carriersSeen() : null,
                pinned);
    }

    private void start(Loops loops, Blocking[] blockings) {
        for (Blocking blocking : blockings) {
            loops.start(builder(), blocking);
        }
    }

    private Contention contention() throws InterruptedException {
        return switch (construct) {
            case CONTENDED_MONITOR -> Contention.forMonitor(Carriers.parallelism(), builder());
            case CONTENDED_LOCK -> Contention.forLock(Carriers.parallelism(), builder());
            default -> Contention.none();
        };
    }

    private Thread.Builder builder() {
        return plan.virtual() ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
    }

    private Blocking[] blockings() throws ReflectiveOperationException {
        Blocking[] blockings = new Blocking[plan.loops()];
        for (int i = 0; i < blockings.length; i++) {
            blockings[i] = i == 0 || construct.hasOwner() ? Blocking.of(construct, plan.blockMs()) : blockings[0];
        }
        return blockings;
    }

    private void lookAtCarriers() {
        mostCarriers.accumulateAndGet(Carriers.count(), Math::max);
    }

    private PinningSeen.CarriersSeen carriersSeen() {
        int parallelism = Carriers.parallelism();
        int most = mostCarriers.get();
        return new PinningSeen.CarriersSeen(
                parallelism, Carriers.maxPoolSize(), most, Math.max(0, most - parallelism), Carriers.source());
    }

    private static void sleepUntil(long ns) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(ns - System.nanoTime());
    }

    private static long ns(double seconds) {
        return Math.round(seconds * 1e9);
    }
}
