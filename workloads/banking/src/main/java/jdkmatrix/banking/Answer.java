package jdkmatrix.banking;

/**
 * What a business request is answered with.
 *
 * @param contentType of a {@code body} of bytes; null: the body is any other object, to be written as JSON
 * @param remoteBytes how long the body was that the remote system gave to this very request
 */
public record Answer(int status, String contentType, Object body, int remoteBytes) {
    static Answer json(int status, Object body, Reply reply) {
        return new Answer(status, null, body, reply.body().length);
    }

    /** The remote system's own. */
    static Answer of(Reply reply) {
        return new Answer(200, reply.contentType(), reply.body(), reply.body().length);
    }
}
