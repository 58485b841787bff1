package jdkmatrix.standalone.burn;

import jdkmatrix.burn.Burn;

/** A fixed amount of work. */
final class Task implements Runnable {
    private final TaskLog.Entry entry;
    private final long rounds;
    private final Flight flight;

    Task(TaskLog.Entry entry, long rounds, Flight flight) {
        this.entry = entry;
        this.rounds = rounds;
        this.flight = flight;
    }

    @Override
    public void run() {
        long startedNs = System.nanoTime();
        if (flight.isAbandoned()) {
            return;
        }
        entry.started(startedNs);
        if (Burn.burn(rounds) == 0) {
            throw new IllegalStateException("burn reached state 0, which no number of rounds can");
        }
        entry.ended(System.nanoTime());
        flight.taskFinished();
    }
}
