package jdkmatrix.remote;

/** The message names the parameter, what was found and what is allowed. */
final class BadRequestException extends Exception {
    private static final long serialVersionUID = 1;

    BadRequestException(String message) {
        super(message);
    }
}
