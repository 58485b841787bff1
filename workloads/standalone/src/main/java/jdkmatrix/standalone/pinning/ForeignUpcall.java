package jdkmatrix.standalone.pinning;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.util.Optional;

/**
 * Runs Java code that native code calls: the C library's bsearch(3) over one element, which calls its comparator once.
 * While the code blocks, there is a native frame below it, so that its thread keeps its carrier.
 *
 * <p>It uses reflection, since java.lang.foreign is final only from JDK 22 and this program is made for 21, where it
 * would need preview features.
 */
final class ForeignUpcall implements Blocking {
    private static final int FIRST_FEATURE = 22;
    private static final String FOREIGN = "java.lang.foreign.";
    private static final int ELEMENT_BYTES = 8;

    /** Its type is ()void. */
    private final MethodHandle call;

    private ForeignUpcall(MethodHandle call) {
        this.call = call;
    }

    static boolean isPossible() {
        return Runtime.version().feature() >= FIRST_FEATURE;
    }

    /** @param code must not throw: an exception that reaches native code ends the JVM */
    static ForeignUpcall to(Runnable code) throws ReflectiveOperationException {
        return new ForeignUpcall(new Linker().bsearch(comparator(code)));
    }

    @Override
    public void block() {
        try {
            call.invokeExact();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns a handle that runs the code and finds both elements equal; of type ()int. */
    private static MethodHandle comparator(Runnable code) throws ReflectiveOperationException {
        MethodHandle run = MethodHandles.publicLookup()
                .findVirtual(Runnable.class, "run", MethodType.methodType(void.class))
                .bindTo(code);
        return MethodHandles.filterReturnValue(run, MethodHandles.constant(int.class, 0));
    }

    /** The part of java.lang.foreign that is needed here. */
    private static final class Linker {
        private final Class<?> linkerType = type("Linker");
        private final Class<?> segmentType = type("MemorySegment");
        private final Class<?> layoutType = type("MemoryLayout");
        private final Class<?> descriptorType = type("FunctionDescriptor");
        private final Class<?> arenaType = type("Arena");
        private final Class<?> optionsType = type("Linker$Option").arrayType();
        private final Object noOptions = Array.newInstance(optionsType.componentType(), 0);
        private final Object linker = linkerType.getMethod("nativeLinker").invoke(null);
        private final Object arena = arenaType.getMethod("global").invoke(null);
        private final Object address = layout("ADDRESS");
        private final Object size = layout("JAVA_LONG");

        Linker() throws ReflectiveOperationException {}

        /** Returns bsearch(key, base, 1, size, comparator), with key and base the same memory; of type ()void. */
        MethodHandle bsearch(MethodHandle comparator) throws ReflectiveOperationException {
            Object memory = arenaType
                    .getMethod("allocate", long.class, long.class)
                    .invoke(arena, (long) ELEMENT_BYTES, (long) ELEMENT_BYTES);
            MethodHandle target = MethodHandles.dropArguments(comparator, 0, segmentType, segmentType);
            Object stub = linkerType
                    .getMethod("upcallStub", MethodHandle.class, descriptorType, arenaType, optionsType)
                    .invoke(linker, target, descriptor(layout("JAVA_INT"), address, address), arena, noOptions);
            MethodHandle bsearch = (MethodHandle) linkerType
                    .getMethod("downcallHandle", segmentType, descriptorType, optionsType)
                    .invoke(linker, symbol("bsearch"), descriptor(address, address, address, size, size, address), noOptions);
            MethodHandle bound =
                    MethodHandles.insertArguments(bsearch, 0, memory, memory, 1L, (long) ELEMENT_BYTES, stub);
            return bound.asType(MethodType.methodType(void.class));
        }

        private Object symbol(String name) throws ReflectiveOperationException {
            Object lookup = linkerType.getMethod("defaultLookup").invoke(linker);
            Optional<?> found = (Optional<?>) type("SymbolLookup").getMethod("find", String.class).invoke(lookup, name);
            return found.orElseThrow(() -> new NoSuchMethodException(name + " of the C library"));
        }

        private Object descriptor(Object result, Object... arguments) throws ReflectiveOperationException {
            Object layouts = Array.newInstance(layoutType, arguments.length);
            for (int i = 0; i < arguments.length; i++) {
                Array.set(layouts, i, arguments[i]);
            }
            return descriptorType
                    .getMethod("of", layoutType, layoutType.arrayType())
                    .invoke(null, result, layouts);
        }

        private static Object layout(String name) throws ReflectiveOperationException {
            return type("ValueLayout").getField(name).get(null);
        }

        private static Class<?> type(String name) throws ClassNotFoundException {
            return Class.forName(FOREIGN + name);
        }
    }
}
