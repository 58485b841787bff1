package jdkmatrix.requestexecutor;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Which executor runs requests; {@link #toString} is the name that stands in matrix.toml. */
public sealed interface Kind {
    /** One new virtual thread for each request. */
    record Virtual() implements Kind {
        @Override
        public String toString() {
            return "virtual";
        }
    }

    /** One new platform thread for each request. */
    record Platform() implements Kind {
        @Override
        public String toString() {
            return "platform";
        }
    }

    /** {@code threads} platform threads and an unbounded queue. */
    record Fixed(int threads) implements Kind {
        @Override
        public String toString() {
            return "fixed-" + threads;
        }
    }

    /** As many platform threads as there are requests at once, reused for a minute. */
    record Cached() implements Kind {
        @Override
        public String toString() {
            return "cached";
        }
    }

    /** Liberty's own pool with its autonomic sizing, made of virtual threads. */
    record LibertyVirtual() implements Kind {
        @Override
        public String toString() {
            return "liberty-virtual";
        }
    }

    int MAX_FIXED_THREADS = 99_999;
    Pattern FIXED = Pattern.compile("fixed-([1-9][0-9]{0,4})");

    /** @return empty where there is no such kind */
    static Optional<Kind> named(String text) {
        return Optional.ofNullable(
                switch (text) {
                    case "virtual" -> new Virtual();
                    case "platform" -> new Platform();
                    case "cached" -> new Cached();
                    case "liberty-virtual" -> new LibertyVirtual();
                    case null -> null;
                    default -> fixed(text);
                });
    }

    private static Kind fixed(String text) {
        Matcher match = FIXED.matcher(text);
        if (!match.matches() || Integer.parseInt(match.group(1)) > MAX_FIXED_THREADS) {
            return null;
        }
        return new Fixed(Integer.parseInt(match.group(1)));
    }
}
