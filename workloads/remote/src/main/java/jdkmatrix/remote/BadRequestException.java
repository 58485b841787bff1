package jdkmatrix.remote;

/** A request that cannot be served. The message names the parameter, what was found and what is allowed. */
final class BadRequestException extends Exception {
    private static final long serialVersionUID = 1;

    BadRequestException(String message) {
        super(message);
    }
}
