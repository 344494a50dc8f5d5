package org.rowankv.server.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.wire.AnswerDescriptor;
import org.rowankv.protocol.wire.BytesFrame;
import org.rowankv.protocol.wire.FrameCutter;
import org.rowankv.protocol.wire.FrameDescriptor;
import org.rowankv.protocol.wire.FrameWriter;
import org.rowankv.protocol.wire.HelloDescriptor;
import org.rowankv.protocol.wire.ProtocolException;
import org.rowankv.protocol.wire.ProtocolFault;
import org.rowankv.protocol.wire.RequestDescriptor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's connection at the server's end: cuts what comes into frames, collects what goes, and stops reading while the
 * client has more under way, or more to fetch, than it may. Owned by one loop.
 */
final class ClientConnection implements FrameCutter.Taker {
    private static final Logger LOG = LoggerFactory.getLogger(ClientConnection.class);
    private static final int READS_PER_TURN = 4;
    private static final int FIRST_OUTPUT = 8 << 10;
    /** Answers that wait for the client to read them; above that no request of it is taken. */
    private static final int MAX_OUTPUT = 1 << 20;

    private final PortLoop loop;
    private final SocketChannel channel;
    private @Nullable SelectionKey watched;
    private final FrameWriter out = new FrameWriter(FIRST_OUTPUT);
    private final FrameCutter in;
    private final long number;
    private final long sinceNs;
    /** What has come of the hello; null once it was welcomed. */
    private @Nullable ByteBuffer hello;

    private int inFlight;
    private boolean closed;
    /** Refused: nothing is read any more, and it ends when it has been told why. */
    private boolean ending;

    /** Whether it stands in the loop's list of those that have something to write. */
    private boolean dirty;

    /** @param number of the connection, among all of the port; ≥ 1 */
    ClientConnection(PortLoop loop, SocketChannel channel, long number, long nowNs) {
        this.number = number;
        this.loop = loop;
        this.channel = channel;
        this.sinceNs = nowNs;
        this.in = new FrameCutter(loop.port().settings().maxFrame());
        this.hello = ByteBuffer.allocate(HelloDescriptor.longestHello()).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Once, before anything else: how it is watched. */
    void watched(SelectionKey key) {
        watched = key;
    }

    private SelectionKey key() {
        final SelectionKey key = watched;
        if (key == null) {
            throw new IllegalStateException("a connection that nobody watches");
        }
        return key;
    }

    /** What the socket is ready for. */
    void onReady(ByteBuffer scratch) {
        try {
            final SelectionKey key = key();
            if (!closed && key.isWritable()) {
                flush();
            }
            if (!closed && !ending && key.isReadable()) {
                read(scratch);
            }
        } catch (ProtocolException e) {
            fail(e);
        } catch (IOException e) {
            LOG.debug("The connection of client {} broke", this, e);
            close();
        }
    }

    private void read(ByteBuffer scratch) throws IOException, ProtocolException {
        for (int reads = 0; reads < READS_PER_TURN && !closed && !ending && !in.isBlocked(); reads++) {
            scratch.clear();
            final int count = channel.read(scratch);
            if (count < 0) {
                close();
                return;
            }
            if (count == 0) {
                return;
            }
            loop.counts().received(count);
            scratch.flip();
            if (hello != null) {
                greet(hello, scratch);
            }
            if (hello == null && !ending && !closed) {
                in.take(scratch, this);
            }
            if (count < scratch.capacity()) {
                break;
            }
        }
        updateInterest();
    }

    private void greet(ByteBuffer heard, ByteBuffer more) throws ProtocolException {
        // Byte by byte up to its end: what follows is frames already.
        HelloDescriptor.Hello from = null;
        while (from == null && more.hasRemaining()) {
            if (!heard.hasRemaining()) {
                throw new ProtocolException(ProtocolFault.BAD_LENGTH, "of a hello");
            }
            heard.put(more.get());
            try {
                from = HelloDescriptor.readHello(heard);
            } catch (ProtocolException e) {
                if (e.fault() == ProtocolFault.OTHER_VERSION) {
                    refuse(HelloDescriptor.REFUSED_VERSION, e.fault(), e.text());
                    return;
                }
                throw e;
            }
        }
        if (from != null) {
            welcome(from);
        }
    }

    private void welcome(HelloDescriptor.Hello from) throws ProtocolException {
        final ClientPort port = loop.port();
        final long cluster = port.routing().configuration().clusterId();
        if (from.clusterId() != 0 && from.clusterId() != cluster) {
            refuse(
                    HelloDescriptor.REFUSED_CLUSTER,
                    ProtocolFault.OTHER_CLUSTER,
                    "the client means cluster " + Long.toHexString(from.clusterId()) + ", this server is one of "
                            + Long.toHexString(cluster) + "; check the addresses that the client was given");
        } else if (from.maxFrame() < port.settings().maxFrame()) {
            throw new ProtocolException(
                    ProtocolFault.BAD_LENGTH,
                    "the client takes frames of " + from.maxFrame() + " bytes only, this server sends up to "
                            + port.settings().maxFrame());
        } else if (loop.port().isCrowded()) {
            refuse(
                    HelloDescriptor.REFUSED_FULL,
                    ProtocolFault.TOO_MANY_CONNECTIONS,
                    "this server has its " + port.settings().maxConnections() + " client connections already");
        } else {
            hello = null;
            answerHello(HelloDescriptor.WELCOME, "");
            sendRouting(0, port.routingBytes());
        }
    }

    private void refuse(int status, ProtocolFault fault, String text) {
        loop.port().faults().report(fault, this, text);
        answerHello(status, text);
        ending = true;
        loop.endAfterRefusal(this);
    }

    private void answerHello(int status, String text) {
        final ClientPort port = loop.port();
        out.append(HelloDescriptor.welcome(new HelloDescriptor.Welcome(
                HelloDescriptor.VERSION,
                status,
                port.routing().configuration().clusterId(),
                port.routing().term(),
                port.serverId(),
                port.settings().maxFrame(),
                port.settings().maxInFlight(),
                text)));
        hasOutput();
    }

    /** Tells the routing: as the answer to that number, or of its own accord. */
    void sendRouting(long number, byte[] routing) {
        if (!closed && hello == null) {
            BytesFrame.write(out, FrameDescriptor.ROUTING, number, routing);
            hasOutput();
        }
    }

    // --- frames ---

    @Override
    public boolean onFrame(ByteBuffer buffer, int at, int length) throws ProtocolException {
        if (closed || ending) {
            return true;
        }
        if (inFlight >= loop.port().settings().maxInFlight() || out.pending() >= MAX_OUTPUT) {
            return false;
        }
        switch (FrameDescriptor.type(buffer, at)) {
            case FrameDescriptor.REQUEST -> onRequest(buffer, at, length);
            case FrameDescriptor.SCAN -> {
                loop.pages().answer(buffer, at, length, out);
                loop.counts().page();
                hasOutput();
            }
            case FrameDescriptor.ROUTING_WANTED -> {
                if (length != FrameDescriptor.HEAD_LENGTH) {
                    throw new ProtocolException(ProtocolFault.BAD_FRAME, "a question with a body");
                }
                sendRouting(FrameDescriptor.number(buffer, at), loop.port().routingBytes());
            }
            case FrameDescriptor.CHANGES_WANTED -> {
                inFlight++;
                loop.askChanges(this, buffer, at, length);
            }
            case FrameDescriptor.CATALOGUE -> {
                inFlight++;
                loop.counts().catalogueRequest();
                loop.port().catalogue().ask(this, buffer, at, length);
            }
            default -> throw new ProtocolException(ProtocolFault.BAD_FRAME, "type " + FrameDescriptor.type(buffer, at));
        }
        return true;
    }

    private void onRequest(ByteBuffer buffer, int at, int length) throws ProtocolException {
        final int bodyLength = RequestDescriptor.bodyLength(buffer, at, length);
        final PendingRequest pending = loop.requests().takePending();
        final Request request = pending.request();
        final boolean sound = RequestDescriptor.read(buffer, at, request, pending.body(bodyLength));
        pending.came(
                this,
                FrameDescriptor.number(buffer, at),
                RequestDescriptor.shard(buffer, at),
                RequestDescriptor.term(buffer, at),
                loop.requests().turnNs());
        request.arrivedOn(number);
        inFlight++;
        if (sound && loop.port().place(request, pending.shard())) {
            loop.requests().admit(pending);
        } else {
            loop.requests().refuse(pending, Status.BAD_REQUEST);
        }
    }

    /** The request has its answer. */
    void answer(PendingRequest pending) {
        inFlight--;
        if (!closed) {
            AnswerDescriptor.write(out, pending.request(), pending.number());
            hasOutput();
        }
    }

    /** Something that was asked of somebody else is answered, by this loop. */
    void answerLater(java.util.function.Consumer<FrameWriter> writer) {
        inFlight--;
        if (!closed) {
            writer.accept(out);
            hasOutput();
        }
    }

    PortLoop loop() {
        return loop;
    }

    // --- output ---

    private void hasOutput() {
        if (!dirty) {
            dirty = true;
            loop.hasOutput(this);
        }
    }

    /** Writes what there is, once, and takes what had to wait for that. */
    void onTurnEnd() {
        dirty = false;
        if (closed) {
            return;
        }
        try {
            flush();
            // Here, since answers make room as writes do.
            while (in.isBlocked()
                    && !closed
                    && inFlight < loop.port().settings().maxInFlight()
                    && out.pending() < MAX_OUTPUT) {
                in.resume(this);
                flush();
            }
            if (!closed) {
                updateInterest();
            }
        } catch (ProtocolException e) {
            fail(e);
        } catch (IOException e) {
            LOG.debug("The connection of client {} broke", this, e);
            close();
        }
    }

    private void flush() throws IOException {
        final int before = out.pending();
        if (before > 0) {
            final boolean told = out.writeTo(channel);
            loop.counts().sent(before - out.pending());
            if (told && ending) {
                // What it still sends is read and dropped by the system, or the refusal might be lost.
                channel.shutdownOutput();
            }
        }
        updateInterest();
    }

    private void updateInterest() {
        if (closed) {
            return;
        }
        final int wanted = (out.pending() > 0 ? SelectionKey.OP_WRITE : 0)
                | (in.isBlocked() || ending || loop.isClosing() ? 0 : SelectionKey.OP_READ);
        final SelectionKey key = key();
        if (key.interestOps() != wanted) {
            key.interestOps(wanted);
        }
    }

    // --- the end ---

    boolean isOverdue(long nowNs) {
        return (hello != null || ending)
                && nowNs - sinceNs > loop.port().settings().handshakeNs();
    }

    void onOverdue() {
        if (!ending) {
            loop.port().faults().report(ProtocolFault.NO_HANDSHAKE, this, ProtocolFault.NO_HANDSHAKE.text());
        }
        close();
    }

    boolean isGreeting() {
        return hello != null || ending;
    }

    /** No reads from now on; true when nothing is owed any more. */
    boolean isDrained() {
        updateInterest();
        return closed || inFlight == 0 && out.pending() == 0;
    }

    private void fail(ProtocolException e) {
        loop.port().faults().report(e.fault(), this, e.text());
        close();
    }

    void close() {
        if (closed) {
            return;
        }
        closed = true;
        key().cancel();
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("The connection of client {} did not close well", this, e);
        }
        loop.closed(this);
    }

    boolean isClosed() {
        return closed;
    }

    @Override
    public String toString() {
        try {
            return "client " + channel.getRemoteAddress();
        } catch (IOException e) {
            return "a client that is gone";
        }
    }
}
