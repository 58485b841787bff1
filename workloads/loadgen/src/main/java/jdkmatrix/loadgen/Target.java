package jdkmatrix.loadgen;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.List;

/**
 * The target of the load: an address, resolved once, and the requests that are sent to it.
 *
 * @param url as given
 * @param authority for the header Host
 */
record Target(String url, InetSocketAddress address, String authority, RequestMix requests) {
    /** Returns a target with one request, a GET of the path and query. */
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
        String authority = uri.getPort() == -1 ? uri.getHost() : uri.getHost() + ":" + uri.getPort();
        Template get = Template.literal("GET", path(uri), authority);
        return new Target(url, new InetSocketAddress(host, port), authority, new RequestMix(0, List.of(get)));
    }

    Target withRequests(RequestFile file) {
        return new Target(url, address, authority, file.toMix(authority));
    }

    int longestRequest() {
        return requests.longest();
    }

    private static String path(URI uri) {
        String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
        String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
        // RFC 9112: ASCII only; URI accepts other letters unescaped.
        return URI.create(URI.create(path + query).toASCIIString()).toString();
    }
}
