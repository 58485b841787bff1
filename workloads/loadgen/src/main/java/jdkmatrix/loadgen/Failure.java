package jdkmatrix.loadgen;

/** The reason why a connection was not made or a request got no answer. */
enum Failure {
    /** A connection could not be opened. Costs no schedule slot. */
    CONNECT,
    /** Closed or reset by the peer with a request outstanding, or the answer was not HTTP. */
    READ,
    /** The request could not be handed to the kernel. */
    WRITE,
    /** No complete answer within the request timeout. */
    TIMEOUT
}
