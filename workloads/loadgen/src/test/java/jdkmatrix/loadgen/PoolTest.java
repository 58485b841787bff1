package jdkmatrix.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The way in which the connections of a phase are opened. */
class PoolTest {
    @Test
    void allEventLoopsTogetherAttemptNoMoreAtOnceThanOne() {
        assertEquals(256, Pool.atOnce(1));
        assertEquals(64, Pool.atOnce(4));
        assertEquals(1, Pool.atOnce(300));
    }

    /** A buffer of its own would stay for good: it is not on the heap. */
    @Test
    void aConnectionThatALargerPhaseNeedsAgainIsTheSame() throws Exception {
        EventLoop loop = new DefaultEventLoop();
        try {
            Bootstrap nowhere =
                    new Bootstrap().channel(LocalChannel.class).remoteAddress(new LocalAddress("nowhere"));
            Target target = Target.parse("http://127.0.0.1:9/");
            Worker worker = new Worker(0, 1, loop, target, nowhere, Limits.of(10_000, 0));
            Pool pool = new Pool(0, 1, loop, worker, new Composer(target.requests(), 0, 1), nowhere);
            loop.submit(() -> {
                        pool.prepare(3);
                        List<Connection> first = List.copyOf(pool.connections());
                        pool.prepare(1);
                        pool.prepare(4);
                        assertEquals(first, pool.connections().subList(0, 3));
                        assertEquals(3, pool.connections().getLast().index);
                    })
                    .get();
        } finally {
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).await();
        }
    }
}
