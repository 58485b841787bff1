package jdkmatrix.standalone.burn;

import java.util.List;
import jdkmatrix.common.command.Numbers;
import jdkmatrix.standalone.command.Choice;

/**
 * A kind of executor.
 *
 * @param threads null where the kind has no number
 */
public record ExecutorKind(Family family, Integer threads) {
    private static final String OPTION = "--executor";
    private static final int MAX_THREADS = 32_767; // ForkJoinPool's own limit

    /** The ways to make one. */
    public enum Family {
        /** One virtual thread for each task. */
        VIRTUAL,
        /** One platform thread for each task. */
        PLATFORM,
        /** Platform threads as needed, kept for a minute. */
        CACHED,
        /** Platform threads on one queue. */
        FIXED,
        /** A ForkJoinPool in the mode of the one that carries virtual threads. */
        FJP_FIFO,
        /** The same pool in the mode that is ForkJoinPool's default. */
        FJP_LIFO,
        /** The pool that Executors.newWorkStealingPool makes. */
        WORK_STEALING,
        /** One virtual thread for each task, of which a given number run at a time. */
        VIRTUAL_BOUNDED
    }

    /** @throws IllegalArgumentException if it is unknown; the message says what was found and what is allowed */
    public static ExecutorKind parse(String text) {
        Choice choice = Choice.parse(
                OPTION,
                text,
                List.of("virtual", "platform", "cached"),
                List.of("fixed:N", "fjp-fifo:N", "fjp-lifo:N", "work-stealing:N", "virtual-bounded:N"));
        Integer threads = choice.argument() == null
                ? null
                : (int) Numbers.whole(OPTION + " " + choice.word(), choice.argument(), 1, MAX_THREADS);
        Family family = switch (choice.word()) {
            case "virtual" -> Family.VIRTUAL;
            case "platform" -> Family.PLATFORM;
            case "cached" -> Family.CACHED;
            case "fixed" -> Family.FIXED;
            case "fjp-fifo" -> Family.FJP_FIFO;
            case "fjp-lifo" -> Family.FJP_LIFO;
            case "virtual-bounded" -> Family.VIRTUAL_BOUNDED;
            default -> Family.WORK_STEALING;
        };
        return new ExecutorKind(family, threads);
    }
}
