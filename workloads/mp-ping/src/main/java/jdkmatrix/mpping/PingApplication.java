package jdkmatrix.mpping;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.util.Set;

/** Names its resources, so that both feature sets find the same ones without scanning. */
@ApplicationPath("/")
public class PingApplication extends Application {
    @Override
    public Set<Class<?>> getClasses() {
        return Set.of(
                PingResource.class,
                BurnResource.class,
                WhoamiResource.class,
                GaugesResource.class,
                ProblemMapper.class);
    }
}
