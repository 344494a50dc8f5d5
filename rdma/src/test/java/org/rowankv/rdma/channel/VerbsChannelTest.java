package org.rowankv.rdma.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.SingleThreadIoEventLoop;
import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.rdma.verbs.LateWork;
import org.rowankv.rdma.verbs.ModelNetwork;
import org.rowankv.rdma.verbs.ModelVerbs;
import org.rowankv.rdma.verbs.Verbs;
import org.rowankv.runtime.SystemClock;

/** A stream over a queue pair is one over TCP: whole, in order, held back by a reader that does not read, and to its end. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("FutureReturnValueIgnored") // what fails is not read
final class VerbsChannelTest {
    private ModelNetwork network;
    private SingleThreadIoEventLoop calledLoop;
    private SingleThreadIoEventLoop callingLoop;
    private VerbsTransport called;
    private VerbsTransport calling;
    private final Reader reader = new Reader();

    /** What a server has read of its only connection; it may answer, and pause. */
    private static final class Reader extends ChannelInboundHandlerAdapter {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final CountDownLatch ended = new CountDownLatch(1);
        private int pauseAt = Integer.MAX_VALUE;
        private boolean echoes;
        private Throwable cause;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            final ByteBuf in = (ByteBuf) message;
            final byte[] copy = new byte[in.readableBytes()];
            in.readBytes(copy);
            in.release();
            bytes.writeBytes(copy);
            if (echoes) {
                context.writeAndFlush(Unpooled.wrappedBuffer(copy));
            }
            if (bytes.size() >= pauseAt) {
                pauseAt = Integer.MAX_VALUE;
                context.channel().config().setAutoRead(false);
                context.executor()
                        .schedule(() -> context.channel().config().setAutoRead(true), 50, TimeUnit.MILLISECONDS);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            this.cause = cause;
            context.close();
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            ended.countDown();
        }
    }

    private void open(long seed) {
        network = new ModelNetwork(seed);
        final Verbs device = new ModelVerbs(network);
        called = transport(seed % 2 == 0 ? new LateWork(device) : device);
        calling = transport(new ModelVerbs(network));
        calledLoop = loop(called);
        callingLoop = loop(calling);
    }

    private static VerbsTransport transport(Verbs device) {
        return new VerbsTransport(device, new VerbsSettings(4, 128, 4, 60_000), SystemClock.INSTANCE);
    }

    private static SingleThreadIoEventLoop loop(VerbsTransport transport) {
        return new SingleThreadIoEventLoop(null, (ThreadFactory) Thread::new, transport.handlers());
    }

    private InetSocketAddress listen() {
        return (InetSocketAddress) new ServerBootstrap()
                .group(calledLoop)
                .channelFactory(called.listeners())
                .childHandler(reader)
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .syncUninterruptibly()
                .channel()
                .localAddress();
    }

    private Channel connect(InetSocketAddress address, ChannelInboundHandlerAdapter handler) {
        return new Bootstrap()
                .group(callingLoop)
                .channelFactory(calling.sockets())
                .handler(handler)
                .connect(address)
                .syncUninterruptibly()
                .channel();
    }

    @AfterEach
    void close() {
        for (SingleThreadIoEventLoop loop : new SingleThreadIoEventLoop[] {callingLoop, calledLoop}) {
            loop.shutdownGracefully(0, 10, TimeUnit.SECONDS).syncUninterruptibly();
        }
        assertThat(network.notReady()).isZero();
        assertThat(network.queuePairs()).isZero();
    }

    private static byte[] bytes(Random random, int length) {
        final byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Whatever was written before a close arrives, in pieces of any size. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void shouldReadAllThatWasWrittenBeforeTheClose(long seed) throws InterruptedException {
        open(seed);
        final Random random = new Random(seed);
        final List<byte[]> pieces = new ArrayList<>();
        final ByteArrayOutputStream written = new ByteArrayOutputStream();
        while (written.size() < 20_000) {
            final byte[] piece = bytes(random, random.nextInt(400));
            pieces.add(piece);
            written.writeBytes(piece);
        }
        // The rest has room in the slots: it arrives, and so does the end, while nothing is read.
        reader.pauseAt = written.size() - random.nextInt(300);
        final Channel channel = connect(listen(), new ChannelInboundHandlerAdapter());
        pieces.forEach(piece -> channel.writeAndFlush(Unpooled.wrappedBuffer(piece)));
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(all -> channel.close());
        reader.ended.await();
        assertThat(reader.bytes.size()).as(String.valueOf(reader.cause)).isEqualTo(written.size());
        assertThat(reader.bytes.toByteArray()).isEqualTo(written.toByteArray());
    }

    /** Both directions at once, each with more than its slots. */
    @ParameterizedTest
    @CsvSource({"1, 3000", "2, 20000", "3, 20000", "4, 20000"})
    void shouldCarryBothDirectionsAtOnce(long seed, int length) throws InterruptedException {
        open(seed);
        reader.echoes = true;
        final ByteArrayOutputStream echoed = new ByteArrayOutputStream();
        final CountDownLatch all = new CountDownLatch(1);
        final Channel channel = connect(listen(), new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                final ByteBuf in = (ByteBuf) message;
                final byte[] copy = new byte[in.readableBytes()];
                in.readBytes(copy);
                in.release();
                echoed.writeBytes(copy);
                if (echoed.size() >= length) {
                    all.countDown();
                }
            }
        });
        final byte[] written = bytes(new Random(seed), length);
        channel.writeAndFlush(Unpooled.wrappedBuffer(written));
        all.await();
        assertThat(echoed.toByteArray()).isEqualTo(written);
        channel.close().syncUninterruptibly();
        reader.ended.await();
    }
}
