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
 * Vert.x with its defaults, except where Open Liberty is configured otherwise or has another default: a verticle per
 * event loop reads requests and hands them to Vert.x's worker pool or to another executor. Or N verticles on virtual
 * threads, each of which answers its requests one after another: while it blocks, it takes no other.
 */
public final class VertxServer implements EmbeddedServer {
    private static final String OWN_VIRTUAL = "own-virtual-N";
    private static final long START_S = 30;

    private OwnPoolMXBean ownPool;

    public static void main(String[] args) {
        // No host name is ever resolved.
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
        // One deployment for all: only then do they share the free port that one of them finds.
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
