package jdkmatrix.loadgen;

/** What a session reads, one JSON object per line: {@code kind} is "rate" or "saturate". */
record Command(String label, String kind, Double rateRps, Integer connections, Double durationS) {
    Phase toPhase() {
        need("kind", kind);
        need("connections", connections);
        need("duration_s", durationS);
        Load load = switch (kind) {
            case "rate" -> new Load.Rate(need("rate_rps", rateRps), connections);
            case "saturate" -> {
                if (rateRps != null) {
                    throw new IllegalArgumentException("rate_rps is not for kind \"saturate\"");
                }
                yield new Load.Saturate(connections);
            }
            default -> throw new IllegalArgumentException(
                    "kind = \"%s\": \"rate\" or \"saturate\" is needed".formatted(kind));
        };
        return Phase.of(label, load, durationS);
    }

    private static <T> T need(String name, T value) {
        if (value == null) {
            throw new IllegalArgumentException(name + " is missing");
        }
        return value;
    }
}
