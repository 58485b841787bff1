package jdkmatrix.banking;

/**
 * The answer to a business request.
 *
 * @param contentType of a {@code body} of bytes; null if the body is any other object, to be written as JSON
 * @param remoteBytes length of the body that the remote system returned for this very request
 */
public record Answer(int status, String contentType, Object body, int remoteBytes) {
    static Answer json(int status, Object body, Reply reply) {
        return new Answer(status, null, body, reply.body().length);
    }

    /** Returns the remote system's own answer. */
    static Answer of(Reply reply) {
        return new Answer(200, reply.contentType(), reply.body(), reply.body().length);
    }
}
