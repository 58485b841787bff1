package jdkmatrix.banking;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import jdkmatrix.serverprobes.Problem;
import jdkmatrix.serverprobes.Text;

/** Changes the query of the remote URL for one request, which is how tests inject faults. */
final class RemoteUrl {
    // The characters of the remote system's parameters, and none that would have to be encoded.
    private static final Pattern PARAMETER = Pattern.compile("[a-z0-9_]{1,32}=[A-Za-z0-9._-]{1,32}");

    private RemoteUrl() {}

    /**
     * @param order as in {@code fault=status-500&delay_us=500000}: each parameter replaces the one of the same name
     *     in the query of {@code base} or is added to it
     * @throws Problem 400 if it is anything else
     */
    static URI with(URI base, String order) {
        Map<String, String> parameters = new LinkedHashMap<>();
        if (base.getRawQuery() != null) {
            put(base.getRawQuery().split("&"), parameters);
        }
        String[] ordered = order.split("&", -1);
        for (String parameter : ordered) {
            if (!PARAMETER.matcher(parameter).matches()) {
                throw Problem.badRequest(Business.ORDER + ": expected parameters as in fault=status-500&delay_us=500000,"
                        + " found " + Text.quoted(parameter));
            }
        }
        put(ordered, parameters);
        return base.resolve(parameters.values().stream().collect(Collectors.joining("&", base.getRawPath() + "?", "")));
    }

    private static void put(String[] parameters, Map<String, String> byName) {
        for (String parameter : parameters) {
            byName.put(parameter.split("=", 2)[0], parameter);
        }
    }
}
