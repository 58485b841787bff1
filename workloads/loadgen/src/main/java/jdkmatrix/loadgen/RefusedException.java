package jdkmatrix.loadgen;

/** Not one connection could be opened. */
final class RefusedException extends Exception {
    private static final long serialVersionUID = 1;

    RefusedException(String message) {
        super(message);
    }
}
