package jdkmatrix.loadgen;

import java.util.List;

/** The requests of a session and how to choose among them. */
record RequestMix(long seed, List<Template> templates) {
    RequestMix {
        templates = List.copyOf(templates);
    }

    /** Returns the length of the longest request in bytes. */
    int longest() {
        return templates.stream().mapToInt(Template::length).max().orElseThrow();
    }
}
