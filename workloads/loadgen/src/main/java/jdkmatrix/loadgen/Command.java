package jdkmatrix.loadgen;

import java.util.List;

/**
 * A command to a session, one JSON object per line; {@code kind} is "rate", "ramp", "saturate" or "join".
 *
 * @param points of a ramp, pairs of seconds and requests per second
 * @param leadS how long "saturate" runs before the phase begins
 * @param intervalS length of the intervals that are reported separately; a second if missing
 */
record Command(
        String label,
        String kind,
        Double rateRps,
        List<List<Double>> points,
        Double joinS,
        Double leadS,
        Integer connections,
        Double durationS,
        Double intervalS) {
    Phase toPhase() {
        need("kind", kind);
        need("connections", connections);
        need("duration_s", durationS);
        onlyFor("rate", "rate_rps", rateRps);
        onlyFor("ramp", "points", points);
        onlyFor("join", "join_s", joinS);
        Load load = switch (kind) {
            case "rate" -> new Load.Rate(need("rate_rps", rateRps), connections);
            case "ramp" -> new Load.Ramp(
                    need("points", points).stream().map(Command::toPoint).toList(), connections);
            case "saturate" -> new Load.Saturate(connections);
            case "join" -> Load.Join.of(connections, need("join_s", joinS));
            default -> throw new IllegalArgumentException(
                    "kind = \"%s\": \"rate\", \"ramp\", \"saturate\" or \"join\" is needed".formatted(kind));
        };
        return Phase.of(
                label, load, leadS == null ? 0 : leadS, durationS, intervalS == null ? Phase.INTERVAL_S : intervalS);
    }

    private static Load.Ramp.Point toPoint(List<Double> pair) {
        if (pair == null || pair.size() != 2 || pair.contains(null)) {
            throw new IllegalArgumentException("points: %s; [SECONDS, RATE] is needed".formatted(pair));
        }
        return Load.Ramp.Point.of(pair.getFirst(), pair.getLast());
    }

    private void onlyFor(String owner, String name, Object value) {
        if (value != null && !kind.equals(owner)) {
            throw new IllegalArgumentException("%s is not for kind \"%s\"".formatted(name, kind));
        }
    }

    private static <T> T need(String name, T value) {
        if (value == null) {
            throw new IllegalArgumentException(name + " is missing");
        }
        return value;
    }
}
