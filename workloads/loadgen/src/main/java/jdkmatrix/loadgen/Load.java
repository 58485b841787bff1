package jdkmatrix.loadgen;

import java.util.List;

/** A way to send requests. */
sealed interface Load {
    int MAX_CONNECTIONS = 100_000;
    double MAX_RPS = 10_000_000;

    /** Connections kept open; at most one request is outstanding on each. */
    int connections();

    /** Open loop: every request is due at a time that does not depend on the answers. */
    sealed interface Scheduled extends Load {
        Slots slots();

        default Schedule schedule(long durationNs) {
            return new Schedule(slots(), connections(), durationNs);
        }
    }

    /** {@code rps} requests per second over all connections. */
    record Rate(double rps, int connections) implements Scheduled {
        public Rate {
            if (!(rps > 0 && rps <= MAX_RPS)) {
                throw new IllegalArgumentException(
                        "rate_rps = %s: a number above 0 and at most %.0f is needed".formatted(rps, MAX_RPS));
            }
            checkConnections(connections);
        }

        @Override
        public Slots slots() {
            return ConstantSlots.of(rps);
        }
    }

    /** A rate that is linear between points, and jumps where two have the same time. */
    record Ramp(List<Point> points, int connections) implements Scheduled {
        static final int MAX_POINTS = 10_000;

        /** A rate over all connections at a time after the start. */
        record Point(long tNs, double rateRps) {
            public Point {
                if (!(rateRps >= 0 && rateRps <= MAX_RPS)) {
                    throw new IllegalArgumentException(
                            "points: a rate of %s; 0 to %.0f are allowed".formatted(rateRps, MAX_RPS));
                }
            }

            static Point of(double tS, double rateRps) {
                if (!(tS >= 0 && tS <= Phase.MAX_DURATION_S)) {
                    throw new IllegalArgumentException(
                            "points: a time of %s s; 0 to %.0f are allowed".formatted(tS, Phase.MAX_DURATION_S));
                }
                return new Point(Phase.toNs(tS), rateRps);
            }
        }

        public Ramp {
            points = List.copyOf(points);
            if (points.size() < 2 || points.size() > MAX_POINTS) {
                throw new IllegalArgumentException(
                        "points: %d of them; 2 to %d are allowed".formatted(points.size(), MAX_POINTS));
            }
            if (points.getFirst().tNs() != 0) {
                throw new IllegalArgumentException("points: the first must be at 0 s");
            }
            double highestRps = 0;
            for (int i = 1; i < points.size(); i++) {
                long tNs = points.get(i).tNs();
                if (tNs < points.get(i - 1).tNs() || i > 1 && tNs == points.get(i - 2).tNs()) {
                    throw new IllegalArgumentException(
                            "points: after %s s comes %s s; times must rise, at most two may be equal (a jump)"
                                    .formatted(points.get(i - 1).tNs() / 1e9, tNs / 1e9));
                }
                if (tNs > points.get(i - 1).tNs()) {
                    highestRps = Math.max(highestRps, Math.max(points.get(i - 1).rateRps(), points.get(i).rateRps()));
                }
            }
            if (highestRps == 0) {
                throw new IllegalArgumentException("points: no rate is above 0 for any time");
            }
            checkConnections(connections);
        }

        long durationNs() {
            return points.getLast().tNs();
        }

        @Override
        public Slots slots() {
            return new RampSlots(points);
        }
    }

    /** Closed loop: every connection sends its next request as soon as it has the answer, once it has joined. */
    sealed interface Joining extends Load {
        /** Returns how long after the start a connection sends its first request; does not fall as the index rises. */
        long joinsAfterNs(int index);
    }

    /** All connections join at once. */
    record Saturate(int connections) implements Joining {
        public Saturate {
            checkConnections(connections);
        }

        @Override
        public long joinsAfterNs(int index) {
            return 0;
        }
    }

    /** The connections join one after another, evenly over {@code joinNs}. */
    record Join(int connections, long joinNs) implements Joining {
        public Join {
            checkConnections(connections);
        }

        static Join of(int connections, double joinS) {
            if (!(joinS > 0 && joinS <= Phase.MAX_DURATION_S)) {
                throw new IllegalArgumentException(
                        "join_s = %s: above 0 and at most %.0f is allowed".formatted(joinS, Phase.MAX_DURATION_S));
            }
            return new Join(connections, Phase.toNs(joinS));
        }

        @Override
        public long joinsAfterNs(int index) {
            return (long) (index / (double) connections * joinNs);
        }
    }

    private static void checkConnections(int connections) {
        if (connections < 1 || connections > MAX_CONNECTIONS) {
            throw new IllegalArgumentException(
                    "connections = %d: 1 to %d are allowed".formatted(connections, MAX_CONNECTIONS));
        }
    }
}
