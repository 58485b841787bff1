package jdkmatrix.banking;

import jakarta.ws.rs.core.Response;

/** Converts an {@link Answer} to a response of Jakarta REST. */
public final class RestAnswer {
    private RestAnswer() {}

    public static Response of(Answer answer) {
        Response.ResponseBuilder response =
                Response.status(answer.status()).entity(answer.body()).header(Business.BYTES, answer.remoteBytes());
        return answer.contentType() == null
                ? response.build()
                : response.type(answer.contentType()).build();
    }
}
