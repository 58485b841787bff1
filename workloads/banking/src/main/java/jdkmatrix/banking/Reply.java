package jdkmatrix.banking;

import java.nio.charset.StandardCharsets;
import jdkmatrix.serverprobes.Problem;
import jdkmatrix.serverprobes.Text;

/** A reply of the remote system with status 200. */
record Reply(String contentType, byte[] body) {
    /** The reply in a bank that calls nothing. */
    static final Reply NONE = new Reply("application/octet-stream", new byte[0]);

    /**
     * @param contentType null if the answer names none
     * @throws Problem 502 for any status other than 200
     */
    static Reply of(int status, String contentType, byte[] body) {
        if (status != 200) {
            throw new Problem(
                    502,
                    "the remote system answered with status " + status + ": "
                            + Text.quoted(new String(body, StandardCharsets.UTF_8).strip()));
        }
        return new Reply(contentType == null ? "application/octet-stream" : contentType, body);
    }
}
