package jdkmatrix.loadgen;

/** How requests are sent. */
sealed interface Load {
    int MAX_CONNECTIONS = 100_000;

    /** Connections kept open; at most one request is outstanding on each. */
    int connections();

    /** Open loop: {@code rps} requests per second over all connections, on a fixed schedule. */
    record Rate(double rps, int connections) implements Load {
        static final double MAX_RPS = 10_000_000;

        public Rate {
            if (!(rps > 0 && rps <= MAX_RPS)) {
                throw new IllegalArgumentException(
                        "rate_rps = %s: a number above 0 and at most %.0f is needed".formatted(rps, MAX_RPS));
            }
            checkConnections(connections);
        }
    }

    /** Closed loop: every connection sends its next request as soon as it has the answer. */
    record Saturate(int connections) implements Load {
        public Saturate {
            checkConnections(connections);
        }
    }

    private static void checkConnections(int connections) {
        if (connections < 1 || connections > MAX_CONNECTIONS) {
            throw new IllegalArgumentException(
                    "connections = %d: 1 to %d are allowed".formatted(connections, MAX_CONNECTIONS));
        }
    }
}
