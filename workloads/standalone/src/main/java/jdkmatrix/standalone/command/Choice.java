package jdkmatrix.standalone.command;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * An option value that is a word, or a word with an argument after a colon: {@code virtual}, {@code fixed:8}.
 *
 * @param argument null where the word has none
 */
public record Choice(String word, String argument) {
    /**
     * @param plain the words without an argument
     * @param withArgument the words with one, and what it is: {@code fixed:THREADS}
     * @throws IllegalArgumentException if neither fits; the message says what was found and what is allowed
     */
    public static Choice parse(String option, String text, List<String> plain, List<String> withArgument) {
        int colon = text.indexOf(':');
        String word = colon < 0 ? text : text.substring(0, colon);
        String argument = colon < 0 ? null : text.substring(colon + 1);
        boolean known = argument == null
                ? plain.contains(word)
                : withArgument.stream().anyMatch(form -> form.startsWith(word + ":"));
        if (!known) {
            String allowed = Stream.concat(plain.stream(), withArgument.stream()).collect(Collectors.joining(", "));
            throw new IllegalArgumentException("%s = \"%s\": one of %s is needed".formatted(option, text, allowed));
        }
        return new Choice(word, argument);
    }

    /** Returns the value as written on the command line. */
    @Override
    public String toString() {
        return argument == null ? word : word + ":" + argument;
    }
}
