package jdkmatrix.standalone.fanout;

import java.io.IOException;
import java.util.Map;
import java.util.function.Consumer;
import jdkmatrix.common.histogram.Distribution;
import jdkmatrix.standalone.process.OpenFiles;
import jdkmatrix.standalone.process.Sampler;
import jdkmatrix.standalone.result.Expected;
import jdkmatrix.standalone.result.Findings;
import jdkmatrix.standalone.result.Outcome;

/** Sends the requests, and looks at open files while they wait. */
final class FanoutExperiment {
    /** A thousand files take a millisecond or two of the CPU that is measured. */
    private static final long SAMPLE_MS = 100;

    private final FanoutPlan plan;
    private final How how;
    private final Consumer<String> say;

    FanoutExperiment(FanoutPlan plan, Consumer<String> say) {
        this.plan = plan;
        this.how = How.parse(plan.how());
        this.say = say;
    }

    Findings run() throws Exception {
        Expected expected = FanoutExpectation.of(plan, how.atOnce());
        if (how.kind() == How.Kind.STRUCTURED && !StructuredFan.isPossible()) {
            return Findings.none(
                    Outcome.notOnThisJdk(
                            "StructuredTaskScope is a preview feature of this JDK, and the JVM was started without them",
                            "java " + StructuredFan.FLAG + " -jar standalone.jar fanout"),
                    expected);
        }
        return Findings.of(expected, () -> fanOut(expected));
    }

    private Findings fanOut(Expected expected) throws IOException, InterruptedException, ReflectiveOperationException {
        Get.configure();
        Get get = new Get(plan.url(), plan.timeoutS());
        // Read now, since at the limit it could not be opened.
        OpenFiles.Limit limit = OpenFiles.Limit.now();
        rehearse(get);
        say.accept("%d requests to %s from %s".formatted(plan.requests(), plan.url(), how));
        OpenFilesPeak peak = new OpenFilesPeak();
        int filesBefore = OpenFiles.count();
        Tally tally = new Tally(get);
        Outcome outcome;
        try (Sampler sampler = new Sampler("open-files", SAMPLE_MS, peak::look)) {
            sampler.start();
            outcome = send(tally, plan.requests());
        }
        Long atRefusal = tally.inFlightAtRefusal();
        if (outcome.isComplete() && atRefusal != null) {
            outcome = filesRefused(atRefusal, limit);
        }
        if (outcome.isComplete() && !tally.errors().isEmpty()) {
            outcome = requestsFailed(tally.errors());
        }
        return new Findings(outcome, expected, seen(tally, peak, filesBefore, limit), tally.span());
    }

    private Outcome send(Tally tally, int requests) throws InterruptedException, ReflectiveOperationException {
        try {
            Fan.of(how).run(requests, tally::send);
            return Outcome.complete();
        } catch (Fan.RefusedThreads refused) {
            return Outcome.of(refused.error(), (long) refused.started());
        } catch (NoSuchMethodException otherApi) {
            return Outcome.notOnThisJdk("StructuredTaskScope has another API: " + otherApi.getMessage(), null);
        }
    }

    private Outcome filesRefused(long inFlight, OpenFiles.Limit limit) {
        return new Outcome(
                Outcome.Kind.FILES_REFUSED,
                "Too many open files, with %d other requests in flight".formatted(inFlight),
                inFlight,
                "each request needs an open file: raise the limit (now %s, hard %s) with ulimit -n %d, or send fewer at once"
                        .formatted(text(limit.soft()), text(limit.hard()), 2L * plan.requests()));
    }

    private Outcome requestsFailed(Map<String, Long> errors) {
        long failed = errors.values().stream().mapToLong(Long::longValue).sum();
        return new Outcome(
                Outcome.Kind.REQUESTS_FAILED,
                "%d of %d requests had no good answer: %s".formatted(failed, plan.requests(), errors),
                null,
                "look at --url and at the server: the time says nothing while requests fail");
    }

    private FanoutSeen seen(Tally tally, OpenFilesPeak peak, int filesBefore, OpenFiles.Limit limit) {
        Map<String, Long> errors = tally.errors();
        double idealS = FanoutExpectation.idealS(plan.requests(), how.atOnce(), plan.delayMs());
        return new FanoutSeen(
                tally.wallS(),
                idealS,
                tally.wallS() - idealS,
                tally.latency().getTotalCount(),
                errors.values().stream().mapToLong(Long::longValue).sum(),
                errors,
                Distribution.of(tally.latency()),
                Distribution.of(tally.sinceStart()),
                tally.mostInFlight(),
                filesBefore,
                peak.files(),
                peak.wasRefused(),
                limit.soft(),
                limit.hard(),
                peak.threads());
    }

    /**
     * Sends requests from threads of the same kind, so that loading classes and starting carriers and pollers is in no
     * figure. Whatever goes wrong with them will be reported for all the others.
     */
    private void rehearse(Get get) throws InterruptedException, ReflectiveOperationException {
        send(new Tally(get), plan.warmupRequests());
    }

    private static String text(Long limit) {
        return limit == null ? "unlimited" : limit.toString();
    }
}
