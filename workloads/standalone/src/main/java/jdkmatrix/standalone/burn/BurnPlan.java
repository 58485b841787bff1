package jdkmatrix.standalone.burn;

/**
 * The parameters. One of {@code burnRounds} and {@code burnUs} is null, and one of {@code rateRps}, {@code inFlight}.
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
    /** Returns the rounds of a task, at least one. */
    long rounds(double calibratedRoundsPerUs) {
        return burnRounds != null ? burnRounds : Math.max(1, Math.round(burnUs * calibratedRoundsPerUs));
    }
}
