package jdkmatrix.loadgen;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;

/**
 * What is loaded: an address, resolved once, and the bytes of the one request that is sent over and over.
 *
 * @param url as given
 */
record Target(String url, InetSocketAddress address, byte[] request) {
    static Target parse(String url) {
        URI uri;
        try {
            uri = new URI(url).parseServerAuthority();
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("url = \"%s\": %s".formatted(url, e.getMessage()), e);
        }
        if (!"http".equalsIgnoreCase(uri.getScheme()) || uri.getHost() == null || uri.getRawUserInfo() != null) {
            throw new IllegalArgumentException("url = \"%s\": http://HOST[:PORT][/PATH][?QUERY] is needed".formatted(url));
        }
        int port = uri.getPort() == -1 ? 80 : uri.getPort();
        InetAddress host;
        try {
            host = InetAddress.getByName(uri.getHost());
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("url = \"%s\": host %s is not known".formatted(url, uri.getHost()), e);
        }
        return new Target(url, new InetSocketAddress(host, port), encode(uri));
    }

    private static byte[] encode(URI uri) {
        String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
        String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
        String authority = uri.getPort() == -1 ? uri.getHost() : uri.getHost() + ":" + uri.getPort();
        // RFC 9112: ASCII only; URI accepts other letters unescaped.
        URI ascii = URI.create(URI.create(path + query).toASCIIString());
        return "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n".formatted(ascii, authority).getBytes(StandardCharsets.US_ASCII);
    }

    /** The request in a buffer that survives being written; for one connection, for one thread. */
    ByteBuf newRequestBuffer() {
        ByteBuf direct = Unpooled.directBuffer(request.length, request.length).writeBytes(request);
        return Unpooled.unreleasableBuffer(direct);
    }
}
