package jdkmatrix.standalone.rounds;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.json.PackageVersion;
import com.fasterxml.jackson.core.util.BufferRecycler;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import com.fasterxml.jackson.core.util.RecyclerPool;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import io.vertx.core.json.jackson.HybridJacksonPool;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/** Writes an object of three fields as JSON, to nowhere. */
final class JsonWrite implements Operation {
    static final Map<String, Supplier<RecyclerPool<BufferRecycler>>> BUFFERS = Map.of(
            "thread-local", JsonRecyclerPools::threadLocalPool,
            "shared", JsonRecyclerPools::newConcurrentDequePool,
            "striped", HybridJacksonPool::getInstance,
            "new", JsonRecyclerPools::nonRecyclingPool);
    private static final Person PERSON = new Person("Ada", "Lovelace", 36);

    private final String buffers;
    private final ObjectWriter writer;
    private final int length;

    record Person(String firstName, String lastName, int age) {}

    /** Counts bytes, so that writing them cannot be optimised away. */
    private static final class Count extends OutputStream {
        private int bytes;

        @Override
        public void write(int one) {
            bytes++;
        }

        @Override
        public void write(byte[] some, int from, int length) {
            bytes += length;
        }
    }

    /** @param buffers a key of {@link #BUFFERS} */
    JsonWrite(String buffers) {
        this.buffers = buffers;
        JsonFactory factory = JsonFactory.builder().recyclerPool(BUFFERS.get(buffers).get()).build();
        writer = new ObjectMapper(factory).writerFor(Person.class);
        try {
            length = written();
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Override
    public void perform(Tally tally) throws IOException {
        if (written() != length) {
            throw new IllegalStateException("another length than before");
        }
    }

    /** It takes half a microsecond: a counter that all threads write to would be a good part of that. */
    @Override
    public boolean isOneTask() {
        return true;
    }

    @Override
    public Map<String, String> about() {
        Map<String, String> versions = new TreeMap<>(Map.of("Jackson", PackageVersion.VERSION.toString()));
        if (buffers.equals("striped")) {
            versions.put("Vert.x", vertxVersion());
        }
        return versions;
    }

    private static String vertxVersion() {
        try (InputStream file = JsonWrite.class.getResourceAsStream("/META-INF/vertx/vertx-version.txt")) {
            return new String(file.readAllBytes(), StandardCharsets.US_ASCII).strip();
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private int written() throws IOException {
        Count out = new Count();
        writer.writeValue(out, PERSON);
        return out.bytes;
    }
}
