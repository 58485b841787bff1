package jdkmatrix.vertxserver;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.internal.VertxInternal;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import jdkmatrix.embedded.Application;
import jdkmatrix.embedded.EmbeddedServer;
import jdkmatrix.embedded.PoolGauges;
import jdkmatrix.embedded.ServerProgram;
import jdkmatrix.requestexecutor.Kind;
import jdkmatrix.requestexecutor.RequestExecutor;
import jdkmatrix.serverprobes.OwnPoolMXBean;

/**
 * Vert.x, as it comes except where Open Liberty is told otherwise or has another default: a verticle for each event loop, which
 * reads a request and hands it over, to the worker pool of Vert.x or to another executor. Or verticles on virtual threads, as many
 * as one says, of which each answers its requests one after another: while one blocks, it takes no other.
 */
public final class VertxServer implements EmbeddedServer {
    private static final String OWN_VIRTUAL = "own-virtual-N";
    private static final long START_S = 30;

    private OwnPoolMXBean ownPool;

    public static void main(String[] args) {
        // No name is ever looked up.
        System.setProperty("vertx.disableDnsResolver", "true");
        ServerProgram.run(new VertxServer(), args);
    }

    @Override
    public String version() {
        return VertxInternal.version();
    }

    @Override
    public Set<String> own() {
        return Set.of(OWN, OWN_SIZED, OWN_VIRTUAL);
    }

    @Override
    public int start(int port, Application application, String executor, Optional<RequestExecutor> plugged)
            throws Exception {
        Kind kind = Kind.parsed(executor).orElseThrow();
        VertxOptions options = new VertxOptions()
                .setFileSystemOptions(new FileSystemOptions()
                        .setClassPathResolvingEnabled(false)
                        .setFileCachingEnabled(false));
        if (kind.row().equals(OWN_SIZED)) {
            options.setWorkerPoolSize(kind.size());
        }
        Vertx vertx = Vertx.vertx(options);
        boolean virtual = kind.row().equals(OWN_VIRTUAL);
        DeploymentOptions deployed = virtual
                ? new DeploymentOptions().setThreadingModel(ThreadingModel.VIRTUAL_THREAD).setInstances(kind.size())
                : new DeploymentOptions().setInstances(options.getEventLoopPoolSize());
        Optional<Executor> threads = virtual ? Optional.of(Runnable::run) : plugged.map(RequestExecutor::executor);
        Routes routes = new Routes(application);
        AtomicInteger bound = new AtomicInteger();
        // All in one deployment: only those share a port that any of them finds.
        vertx.deployVerticle(() -> new Listener(routes, threads, port, bound::set), deployed)
                .toCompletionStage()
                .toCompletableFuture()
                .get(START_S, TimeUnit.SECONDS);
        if (threads.isEmpty()) {
            ownPool = new PoolGauges((ThreadPoolExecutor) ((VertxInternal) vertx).workerPool().executor());
        }
        return bound.get();
    }

    @Override
    public OwnPoolMXBean ownPool() {
        return ownPool;
    }
}
