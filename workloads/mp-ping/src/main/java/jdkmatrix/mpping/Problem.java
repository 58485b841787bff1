package jdkmatrix.mpping;

/** Answered with a status and one line that says what was found and what is allowed. */
final class Problem extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;

    private Problem(int status, String message) {
        super(message);
        this.status = status;
    }

    /** The request asks for something that is not allowed. */
    static Problem badRequest(String message) {
        return new Problem(400, message);
    }

    /** The server was started without something that the request needs. */
    static Problem misconfigured(String message) {
        return new Problem(500, message);
    }

    int status() {
        return status;
    }
}
