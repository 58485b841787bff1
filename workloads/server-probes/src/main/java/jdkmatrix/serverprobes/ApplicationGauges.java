package jdkmatrix.serverprobes;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** An application's own gauges, which {@code GET /gauges} reports beside the others. */
public interface ApplicationGauges {
    List<ApplicationGauges> ADDED = new CopyOnWriteArrayList<>();

    /**
     * Adds whole numbers: counts since the start of the process under names that begin with {@code total_}, figures of
     * the time since the last reset under names that begin with {@code window_}.
     *
     * @param reset whether a new such time begins once these figures are read
     */
    void putInto(Map<String, Object> answer, boolean reset);
}
