package jdkmatrix.banking;

/** What the remote system said, with status 200. */
record Reply(String contentType, byte[] body) {}
