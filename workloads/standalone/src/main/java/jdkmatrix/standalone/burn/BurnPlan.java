package jdkmatrix.standalone.burn;

/**
 * What was asked for. Of {@code burnRounds} and {@code burnUs} one is null, and of {@code rateRps} and {@code inFlight}.
 *
 * @param executor as {@link ExecutorKind#parse} reads it
 * @param roundsPerUs null: calibrate for {@code calibrateS}
 */
public record BurnPlan(
        String executor,
        Long burnRounds,
        Double burnUs,
        Double roundsPerUs,
        double calibrateS,
        Double rateRps,
        Integer inFlight,
        double durationS,
        double warmupS,
        double drainS,
        boolean parks) {
    /** At least one round. */
    long rounds(double calibratedRoundsPerUs) {
        return burnRounds != null ? burnRounds : Math.max(1, Math.round(burnUs * calibratedRoundsPerUs));
    }
}
