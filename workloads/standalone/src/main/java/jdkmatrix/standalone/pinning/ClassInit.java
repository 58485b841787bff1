package jdkmatrix.standalone.pinning;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;

/**
 * Initialises a new class whose static initialiser blocks. A class is initialised once, so each call defines the
 * template anew, as a hidden class that nothing keeps alive afterwards. The JVM calls a static initialiser from native
 * code, so that its thread keeps its carrier while it blocks there.
 */
final class ClassInit implements Blocking {
    private static final byte[] TEMPLATE = template();

    /** Read by the template, which cannot be told in any other way: the same for all threads. */
    private static volatile int blockMs;

    ClassInit(int ms) {
        blockMs = ms;
    }

    @Override
    public void block() {
        try {
            MethodHandles.lookup().defineHiddenClass(TEMPLATE, true);
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Does the work of the template's initialiser. */
    static void initialise() {
        Blocking.sleep(blockMs);
    }

    private static byte[] template() {
        String name = BlockingInitialiser.class.getSimpleName() + ".class";
        try (InputStream bytes = ClassInit.class.getResourceAsStream(name)) {
            if (bytes == null) {
                throw new IllegalStateException(name + " is not beside " + ClassInit.class);
            }
            return bytes.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
