package jdkmatrix.standalone.hang;

import java.util.function.Consumer;
import jdkmatrix.common.jvm.Carriers;
import jdkmatrix.standalone.process.ThreadDump;
import jdkmatrix.standalone.result.Expected;
import jdkmatrix.standalone.result.Findings;
import jdkmatrix.standalone.result.MeasuredSpan;
import jdkmatrix.standalone.result.Outcome;

/** Lets threads queue for a lock, frees it, and checks whether they go on; if not, where they are, and what helps. */
final class HangExperiment {
    private final HangPlan plan;
    private final Consumer<String> say;

    HangExperiment(HangPlan plan, Consumer<String> say) {
        this.plan = plan;
        this.say = say;
    }

    Findings run() throws Exception {
        Expected expected = HangExpectation.of(plan, Runtime.version().feature(), Carriers.parallelism());
        return Findings.of(expected, () -> contend(expected));
    }

    private Findings contend(Expected expected) throws InterruptedException {
        Contest contest = new Contest(plan);
        say.accept("%d %s threads queue for a lock, all but the first inside %s"
                .formatted(plan.count(), plan.kind(), plan.inside()));
        // The pinned threads and the first: the others wait for a carrier until one of these has left.
        int most = plan.virtual() ? Carriers.parallelism() + 1 : plan.count();
        if (!contest.queue(Math.min(plan.count(), most))) {
            String late = "only %d threads had come to wait for the lock".formatted(contest.waiting());
            return Findings.none(Outcome.timedOut(late, contest.waiting()), expected);
        }
        long freeNs = contest.free();
        boolean wentOn = contest.await();
        long endNs = System.nanoTime();
        int had = contest.had();
        long standstillNs = contest.standstillNs();
        HangSeen.Hung hung = wentOn ? null : hung(contest, had);
        HangSeen seen = new HangSeen(
                plan.count(),
                had,
                (double) had / plan.count(),
                wentOn ? (endNs - freeNs) / 1e6 : null,
                standstillNs / 1e6,
                plan.virtual() ? Carriers.parallelism() : null,
                hung);
        return new Findings(outcome(hung, had), expected, seen, new MeasuredSpan(freeNs, endNs));
    }

    private HangSeen.Hung hung(Contest contest, int had) throws InterruptedException {
        say.accept("they hang:\n" + ThreadDump.text());
        HangSeen.Hung before = new HangSeen.Hung(contest.isFree(), contest.waiting(), 0, contest.stacks());
        contest.interruptOne();
        contest.await();
        return new HangSeen.Hung(before.lockFree(), before.waiting(), contest.had() - had, before.stacks());
    }

    private Outcome outcome(HangSeen.Hung hung, int had) {
        if (hung == null) {
            return Outcome.complete();
        }
        String state = hung.lockFree() ? "nobody had it" : "a thread had it";
        return Outcome.hung(
                "no thread came to have the lock for %d times as long as each needs it (%d ms): %s, and %d waited for it; "
                        .formatted(plan.patience(), plan.holdMs(), state, hung.waiting())
                        + "when one of these was interrupted, %d others had it".formatted(hung.wentOnAfterInterrupt()),
                had);
    }
}
