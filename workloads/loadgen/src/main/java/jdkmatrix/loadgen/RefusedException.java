package jdkmatrix.loadgen;

/** A phase cannot run: not one connection could be opened, or more are requested than this process can have. */
final class RefusedException extends Exception {
    private static final long serialVersionUID = 1;

    RefusedException(String message) {
        super(message);
    }
}
