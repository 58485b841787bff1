package jdkmatrix.pinning;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.util.Set;
import jdkmatrix.serverprobes.ServerProbes;

/** The probes; what blocks is in {@link PinningServlet}. */
@ApplicationPath("/")
public class PinningApplication extends Application {
    @Override
    public Set<Class<?>> getClasses() {
        return ServerProbes.with();
    }
}
