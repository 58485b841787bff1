package jdkmatrix.serverprobes;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What every application under test has beside its own resources. */
public final class ServerProbes {
    private static final Set<Class<?>> CLASSES =
            Set.of(WhoamiResource.class, GaugesResource.class, BurnResource.class, ProblemMapper.class);

    private ServerProbes() {}

    /**
     * @param own the resources and providers of one application
     * @return those and the probes, by name, so that all feature sets find the same ones without scanning
     */
    public static Set<Class<?>> with(Class<?>... own) {
        return Stream.concat(CLASSES.stream(), Stream.of(own)).collect(Collectors.toUnmodifiableSet());
    }
}
