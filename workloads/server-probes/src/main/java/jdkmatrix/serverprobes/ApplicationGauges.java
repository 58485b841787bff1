package jdkmatrix.serverprobes;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** Gauges of an application's own, which {@code GET /gauges} has beside the others. */
public interface ApplicationGauges {
    List<ApplicationGauges> ADDED = new CopyOnWriteArrayList<>();

    /**
     * Puts whole numbers: counts since the start of the process under names that begin with {@code total_}, figures of the
     * time since the last reset under names that begin with {@code window_}.
     *
     * @param reset a new such time begins once these are told
     */
    void putInto(Map<String, Object> answer, boolean reset);
}
