package jdkmatrix.loadgen;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpHeadersFactory;
import io.netty.util.AsciiString;

/** Keeps the headers that say where a response ends and whether its connection stays open; drops the others unread. */
final class FramingHeaders extends DefaultHttpHeaders {
    static final HttpHeadersFactory FACTORY = new HttpHeadersFactory() {
        @Override
        public HttpHeaders newHeaders() {
            return new FramingHeaders();
        }

        @Override
        public HttpHeaders newEmptyHeaders() {
            return new FramingHeaders();
        }
    };

    private static final AsciiString[] KEPT = {
        HttpHeaderNames.CONTENT_LENGTH, HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderNames.CONNECTION
    };

    FramingHeaders() {
        super(name -> {}, value -> {}, KEPT.length);
    }

    @Override
    public HttpHeaders add(CharSequence name, Object value) {
        for (AsciiString kept : KEPT) {
            if (kept.length() == name.length() && kept.contentEqualsIgnoreCase(name)) {
                return super.add(name, value);
            }
        }
        return this;
    }
}
