package jdkmatrix.remote;

import io.netty.buffer.Unpooled;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Bodies of answers: JSON of any length. Each is made once, outside the heap, and then shared by all answers of its
 * length, so that an answer copies nothing. For one thread only.
 */
final class Bodies {
    private static final long CACHE_BYTES = 16L << 20;
    private static final String BEFORE = "{\"pad\":\"";
    private static final String AFTER = "\"}";

    private final Map<Integer, Buffer> bySize = new HashMap<>();
    private final Buffer error = shared("{\"error\":\"as ordered\"}".getBytes(StandardCharsets.US_ASCII));
    private long cachedBytes;

    Buffer of(int sizeBytes) {
        Buffer body = bySize.get(sizeBytes);
        if (body == null) {
            if (cachedBytes + sizeBytes > CACHE_BYTES) {
                bySize.clear();
                cachedBytes = 0;
            }
            body = shared(json(sizeBytes));
            bySize.put(sizeBytes, body);
            cachedBytes += sizeBytes;
        }
        return body;
    }

    Buffer error() {
        return error;
    }

    /** Returns an object with padding, or a number if {@code sizeBytes} is too small for that. */
    static byte[] json(int sizeBytes) {
        byte[] text = new byte[sizeBytes];
        int padding = sizeBytes - BEFORE.length() - AFTER.length();
        if (padding < 0) {
            Arrays.fill(text, (byte) '1');
            return text;
        }
        Arrays.fill(text, (byte) 'x');
        System.arraycopy(BEFORE.getBytes(StandardCharsets.US_ASCII), 0, text, 0, BEFORE.length());
        System.arraycopy(AFTER.getBytes(StandardCharsets.US_ASCII), 0, text, sizeBytes - AFTER.length(), AFTER.length());
        return text;
    }

    private static Buffer shared(byte[] text) {
        // Memory that the garbage collector frees, since nobody knows which answer is the last one to use it.
        ByteBuffer memory = ByteBuffer.allocateDirect(text.length).put(text).flip();
        return BufferInternal.buffer(Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(memory)));
    }
}
