package jdkmatrix.serverprobes;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.UnaryOperator;
import javax.management.ObjectName;
import jdkmatrix.common.jvm.Carriers;
import jdkmatrix.common.jvm.Jmx;

/**
 * {@code GET /gauges}: the executor and the JVM at this moment. {@code in_flight} counts requests inside the
 * application itself; {@code in_flight_peak} is the most at once since {@code GET /gauges?reset=peak}, which answers
 * like any other and then starts a new peak. {@code served_…} count all requests that ever began ({@link Served}),
 * {@code total_hook_calls} how often the service registry called the hooks that plugged the executor in.
 */
final class GaugesProbe implements Probe {
    private static final ObjectName HOOKS = Jmx.name("jdkmatrix:type=ServiceHooks");

    @Override
    public String answer(UnaryOperator<String> parameter) {
        String reset = parameter.apply("reset");
        if (reset != null && !reset.equals("peak")) {
            throw Problem.badRequest("reset: allowed is peak, found " + reset);
        }
        ExecutorGauges executor = ExecutorGauges.read();
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("pool_size", executor.poolSize());
        answer.put("active", executor.active());
        answer.put("queued", executor.queued());
        answer.put("threads_started", executor.threadsStarted());
        answer.put("in_flight", InFlight.REQUESTS.now());
        answer.put("in_flight_peak", reset == null ? InFlight.REQUESTS.peak() : InFlight.REQUESTS.takePeak());
        InFlight.REQUESTS.served().putInto(answer);
        answer.put("carriers", Carriers.count());
        JvmGauges.putInto(answer);
        answer.put("total_hook_calls", Jmx.whole(HOOKS, "Calls"));
        ApplicationGauges.ADDED.forEach(gauges -> gauges.putInto(answer, reset != null));
        return Json.object(answer);
    }
}
