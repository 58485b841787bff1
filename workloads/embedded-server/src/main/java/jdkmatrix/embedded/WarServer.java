package jdkmatrix.embedded;

import java.nio.file.Path;
import java.util.Optional;
import jdkmatrix.requestexecutor.RequestExecutor;

/** A server that can also deploy an application that is not ours from a WAR, which has no probes. */
public interface WarServer extends EmbeddedServer {
    String SUFFIX = ".war";

    /**
     * As {@link #start}, but serves the WAR, below a context root with the name of its file. Such an application sees
     * the classes of the platform and of the server, and none of ours.
     *
     * @throws Exception as {@link #start}, or if it does not deploy
     */
    int deploy(int port, Path war, String executor, Optional<RequestExecutor> plugged) throws Exception;

    static String contextRoot(Path war) {
        String name = war.getFileName().toString();
        return "/" + name.substring(0, name.length() - SUFFIX.length());
    }
}
