package jdkmatrix.serverprobes;

/** An error that is answered with a status and one line that says what was found and what is allowed. */
public final class Problem extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;

    public Problem(int status, String message) {
        super(message);
        this.status = status;
    }

    /** The request asks for something that is not allowed. */
    public static Problem badRequest(String message) {
        return new Problem(400, message);
    }

    /** The server was started without something that the request needs. */
    public static Problem misconfigured(String message) {
        return new Problem(500, message);
    }

    public int status() {
        return status;
    }
}
