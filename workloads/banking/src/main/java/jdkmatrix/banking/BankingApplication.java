package jdkmatrix.banking;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.util.Set;
import jdkmatrix.serverprobes.ProblemMapper;

/** Lists its resources, so that every feature set finds the same ones without scanning. */
@ApplicationPath("/")
public class BankingApplication extends Application {
    @Override
    public Set<Class<?>> getClasses() {
        return Set.of(
                AccountResource.class,
                AuditResource.class,
                ForwardResource.class,
                TransferResource.class,
                JsonNames.class,
                ProblemMapper.class,
                UnreadableMapper.class);
    }
}
