package jdkmatrix.embedded;

import java.util.List;

/** The classes that an application finds on a server that is not in one jar with ours: the platform's and the server's. */
public final class ServerClasses extends ClassLoader {
    private final ClassLoader all = ServerClasses.class.getClassLoader();
    private final List<String> shown;

    /** @param shown how the names of the server's classes, and of the interfaces that it implements, begin */
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
