package jdkmatrix.standalone.pinning;

import java.util.Arrays;
import java.util.stream.Collectors;

/** The construct that a thread is in while it blocks. */
enum Construct {
    /** Sleeps inside a synchronized block. */
    SYNCHRONIZED("synchronized"),
    /** Sleeps while it holds a ReentrantLock. */
    LOCK("lock"),
    /** Waits in Object.wait with a timeout. */
    OBJECT_WAIT("object-wait"),
    /** Sleeps in the static initialiser of a class. */
    CLASS_INIT("class-init"),
    /** Sleeps in Java code that native code called. */
    NATIVE("native"),
    /** Sleeps, while as many threads as there are carriers wait to enter a monitor that another thread holds. */
    CONTENDED_MONITOR("contended-monitor"),
    /** Sleeps, while as many threads as there are carriers wait for a ReentrantLock that another thread holds. */
    CONTENDED_LOCK("contended-lock");

    private final String word;

    Construct(String word) {
        this.word = word;
    }

    String word() {
        return word;
    }

    /** Returns whether each thread needs a monitor or lock of its own, so that no thread waits for another's. */
    boolean hasOwner() {
        return this == SYNCHRONIZED || this == LOCK || this == OBJECT_WAIT;
    }

    /** @throws IllegalArgumentException if it is unknown; the message says what was found and what is allowed */
    static Construct parse(String text) {
        return Arrays.stream(values())
                .filter(construct -> construct.word.equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("--construct = \"%s\": one of %s is needed"
                        .formatted(text, Arrays.stream(values()).map(Construct::word).collect(Collectors.joining(", ")))));
    }
}
