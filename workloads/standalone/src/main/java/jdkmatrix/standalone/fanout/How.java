package jdkmatrix.standalone.fanout;

import java.util.List;
import jdkmatrix.common.command.Numbers;
import jdkmatrix.standalone.command.Choice;

/**
 * The threads that send.
 *
 * @param atOnce how many requests there may be at once; null: all
 */
record How(Kind kind, Integer atOnce) {
    private static final String OPTION = "--how";
    private static final int MAX_AT_ONCE = 99_999;

    enum Kind {
        PLATFORM("platform"),
        FIXED("fixed"),
        VIRTUAL("virtual"),
        VIRTUAL_BOUNDED("virtual-bounded"),
        STRUCTURED("structured");

        private final String word;

        Kind(String word) {
            this.word = word;
        }
    }

    /** @throws IllegalArgumentException if it is unknown; the message says what was found and what is allowed */
    static How parse(String text) {
        Choice choice = Choice.parse(
                OPTION, text, List.of("platform", "virtual", "structured"), List.of("fixed:P", "virtual-bounded:P"));
        Integer atOnce = choice.argument() == null
                ? null
                : (int) Numbers.whole(OPTION + " " + choice.word(), choice.argument(), 1, MAX_AT_ONCE);
        for (Kind kind : Kind.values()) {
            if (kind.word.equals(choice.word())) {
                return new How(kind, atOnce);
            }
        }
        throw new IllegalStateException(choice.word());
    }

    /** Returns the value as written on the command line. */
    @Override
    public String toString() {
        return atOnce == null ? kind.word : kind.word + ":" + atOnce;
    }
}
