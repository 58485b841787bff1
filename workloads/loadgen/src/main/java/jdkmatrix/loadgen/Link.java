package jdkmatrix.loadgen;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;

/**
 * One TCP connection: writes requests and turns what Netty's decoder reads into "answered" or "failed".
 *
 * <p>Bodies are never gathered: chunks are counted as bytes and dropped.
 */
final class Link extends ChannelInboundHandlerAdapter {
    /** Accepts longer heads than other clients do: a failed request is to be the server's fault. */
    private static final HttpDecoderConfig DECODER = new HttpDecoderConfig()
            .setMaxInitialLineLength(64 * 1024)
            .setMaxHeaderSize(1024 * 1024)
            .setMaxChunkSize(64 * 1024)
            .setHeadersFactory(FramingHeaders.FACTORY);

    private final Worker worker;
    final Connection connection;
    private Channel channel;
    private boolean writing;
    private int status;
    private boolean keepAlive;
    /** True if it has brought an answer that was asked for. */
    boolean answered;

    Link(Worker worker, Connection connection) {
        this.worker = worker;
        this.connection = connection;
    }

    /** Writes the connection's request; a failure is reported to the worker before this returns, if it is known by then. */
    void write() {
        writing = true;
        // The void promise saves one object per request; its failure arrives in exceptionCaught.
        channel.writeAndFlush(connection.request, channel.voidPromise());
        writing = false;
    }

    void close() {
        if (channel != null) {
            channel.close();
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        channel = ctx.channel();
        ctx.pipeline().addFirst(new Decoder());
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        try {
            read(message);
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void read(Object message) {
        if (message instanceof HttpResponse response) {
            if (response.decoderResult().isFailure()) {
                worker.failed(this, Failure.READ);
                return;
            }
            status = response.status().code();
            keepAlive = HttpUtil.isKeepAlive(response);
        }
        if (message instanceof LastHttpContent last) {
            if (last.decoderResult().isFailure() || status == HttpResponseStatus.SWITCHING_PROTOCOLS.code()) {
                worker.failed(this, Failure.READ);
            } else if (HttpStatusClass.valueOf(status) != HttpStatusClass.INFORMATIONAL) {
                boolean stays = keepAlive && written();
                worker.answered(this, HttpStatusClass.valueOf(status) == HttpStatusClass.SUCCESS, stays);
            }
        }
    }

    /** True if the kernel has the whole request: a server may answer before it has read the body. */
    private boolean written() {
        ChannelOutboundBuffer pending = channel.unsafe().outboundBuffer();
        return pending != null && pending.isEmpty();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        worker.failed(this, Failure.READ);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (cause instanceof IOException || cause instanceof DecoderException) {
            worker.failed(this, writing ? Failure.WRITE : Failure.READ);
        } else {
            worker.broken(cause);
        }
    }

    private final class Decoder extends HttpResponseDecoder {
        Decoder() {
            super(DECODER);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
            if (message instanceof ByteBuf bytes) {
                worker.bytesRead(bytes.readableBytes());
            }
            super.channelRead(ctx, message);
        }
    }
}
