package jdkmatrix.embedded;

import java.util.List;

/** The classes that an application sees on a server that shares no jar with ours: the platform's and the server's. */
public final class ServerClasses extends ClassLoader {
    private final ClassLoader all = ServerClasses.class.getClassLoader();
    private final List<String> shown;

    /** @param shown name prefixes of the server's classes and of the interfaces that it implements */
    public ServerClasses(String... shown) {
        super(getPlatformClassLoader());
        this.shown = List.of(shown);
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        if (shown.stream().noneMatch(name::startsWith)) {
            throw new ClassNotFoundException(name);
        }
        return all.loadClass(name);
    }
}
