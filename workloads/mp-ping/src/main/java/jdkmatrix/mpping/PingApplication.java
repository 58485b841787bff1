package jdkmatrix.mpping;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.util.HashSet;
import java.util.Set;
import jdkmatrix.serverprobes.RestProbes;

/** Lists its resources, so that both feature sets find the same ones without scanning. */
@ApplicationPath("/")
public class PingApplication extends Application {
    @Override
    public Set<Class<?>> getClasses() {
        Set<Class<?>> classes = new HashSet<>(RestProbes.CLASSES);
        classes.add(PingResource.class);
        return classes;
    }
}
