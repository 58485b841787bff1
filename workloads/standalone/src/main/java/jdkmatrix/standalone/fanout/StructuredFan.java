package jdkmatrix.standalone.fanout;

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;

/**
 * A StructuredTaskScope with one subtask for each request. Used by reflection, since it was a preview feature up to JDK
 * 27 and its API changed: JDK 21 to 24 have a constructor (JEP 453), later ones a factory method (JEP 505).
 */
final class StructuredFan {
    private static final String TYPE = "java.util.concurrent.StructuredTaskScope";
    private static final String PREVIEW_MARK = "jdk/internal/javac/PreviewFeature";

    /** The option that the JVM must be given. */
    static final String FLAG = "--enable-preview";

    private StructuredFan() {}

    /** Returns whether it can run: reflection works without the flag, but the JDK promises a preview only with it. */
    static boolean isPossible() throws ReflectiveOperationException, IOException {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().contains(FLAG) || !isPreview(Class.forName(TYPE));
    }

    /** Returns whether a type is a preview, whose mark is in the class file only: reflection does not show it. */
    static boolean isPreview(Class<?> type) throws IOException {
        try (InputStream classFile = type.getResourceAsStream(type.getSimpleName() + ".class")) {
            if (classFile == null) {
                throw new IOException("no class file of " + type);
            }
            return new String(classFile.readAllBytes(), StandardCharsets.ISO_8859_1).contains(PREVIEW_MARK);
        }
    }

    /** @throws ReflectiveOperationException when this JDK has yet another API */
    static void run(int requests, Runnable request)
            throws InterruptedException, Fan.RefusedThreads, ReflectiveOperationException {
        Class<?> type = Class.forName(TYPE);
        Method fork = type.getMethod("fork", Callable.class);
        Method join = type.getMethod("join");
        int forked = 0;
        OutOfMemoryError refused = null;
        Callable<Object> subtask = () -> {
            request.run();
            return null;
        };
        AutoCloseable scope = open(type);
        try {
            while (forked < requests && refused == null) {
                try {
                    invoke(fork, scope, subtask);
                    forked++;
                } catch (OutOfMemoryError error) {
                    refused = error;
                }
            }
            invoke(join, scope);
        } finally {
            invoke(type.getMethod("close"), scope);
        }
        if (refused != null) {
            throw new Fan.RefusedThreads(refused, forked);
        }
    }

    private static AutoCloseable open(Class<?> type) throws ReflectiveOperationException {
        Object scope = type.isInterface()
                ? type.getMethod("open").invoke(null)
                : type.getConstructor().newInstance();
        return (AutoCloseable) scope;
    }

    /** Invokes a method with the exceptions of a direct call. */
    private static void invoke(Method method, Object target, Object... arguments)
            throws ReflectiveOperationException, InterruptedException {
        try {
            method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            switch (e.getCause()) {
                case InterruptedException interrupted -> throw interrupted;
                case RuntimeException problem -> throw problem;
                case Error error -> throw error;
                default -> throw e;
            }
        }
    }
}
