package jdkmatrix.loadgen;

/** A constant rate: slot k is due k intervals after the start, computed from k, not added up, so it does not drift. */
record ConstantSlots(double intervalNs) implements Slots {
    static ConstantSlots of(double rateRps) {
        return new ConstantSlots(1e9 / rateRps);
    }

    @Override
    public long offsetNs(long slot) {
        return (long) (slot * intervalNs);
    }
}
