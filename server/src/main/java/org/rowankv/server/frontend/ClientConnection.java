package org.rowankv.server.frontend;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.ByteProgress;
import org.rowankv.protocol.frame.FrameDecoder;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.FrameMemory;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.protocol.frame.WirePort;
import org.rowankv.protocol.wire.BytesFrame;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.FrameEncoder;
import org.rowankv.protocol.wire.RequestDescriptor;
import org.rowankv.protocol.wire.ResponseDescriptor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's connection at the server's end: cuts what comes into frames, collects what goes, and stops reading while the
 * client has more under way, or more to fetch, than it may. Owned by one loop.
 */
final class ClientConnection implements FrameDecoder.Taker {
    private static final Logger LOG = LoggerFactory.getLogger(ClientConnection.class);
    private static final int READS_PER_TURN = 4;
    private static final int FIRST_OUTPUT = 8 << 10;

    private final ClientEventLoop loop;
    private final LoopMemoryBudget memory;
    private final SocketChannel channel;
    private @Nullable SelectionKey watched;
    private final FrameEncoder out;
    private final FrameDecoder in;
    private final long number;
    private final FrameReservations room;
    private final CatalogueRequests questions;
    private final ByteProgress input = new ByteProgress();
    private final ByteProgress output = new ByteProgress();
    private final long sinceNs;
    /** Null once it was welcomed. */
    private @Nullable ClientHandshake hello;

    private int inFlightWindow;
    private boolean closed;
    /** Refused: nothing is read any more, and it ends when it has been told why. */
    private boolean ending;

    /** Whether it stands in the loop's list of those that have something to write. */
    private boolean dirty;

    /** The routing has changed, and is to be sent before anything else. */
    private boolean routingOwed;

    /** Frames that were taken. */
    private int frames;

    /** Whether the loop counts it among those that owe something. */
    private boolean owing;

    /** @param number of the connection, among all of the port; ≥ 1 */
    ClientConnection(ClientEventLoop loop, SocketChannel channel, long number, long nowNs) {
        this.number = number;
        this.loop = loop;
        this.channel = channel;
        this.sinceNs = nowNs;
        this.memory = loop.memory();
        this.out = new FrameEncoder(FIRST_OUTPUT, memory);
        this.room = new FrameReservations(memory);
        this.questions = new CatalogueRequests(this, memory);
        this.in = new FrameDecoder(WirePort.CLIENTS, loop.port().limits(), FrameMemory.onHeap(room));
        this.hello = new ClientHandshake(loop.port());
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
                goOn(); // what the client has fetched made room
            }
            if (!closed && !ending && key.isReadable()) {
                read(scratch);
            }
        } catch (WireException e) {
            fail(e);
        } catch (IOException e) {
            LOG.debug("The connection of client {} broke", this, e);
            close();
        }
    }

    private void read(ByteBuffer scratch) throws IOException, WireException {
        for (int reads = 0; reads < READS_PER_TURN && isRead(); reads++) {
            scratch.clear();
            if (memory.isShort()) {
                scratch.limit(LoopMemoryBudget.SHORT_READ);
            }
            final int most = scratch.remaining();
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
                input.moved(count, loop.turnNs());
                in.take(scratch, this);
                settleInput();
            }
            if (count < most) {
                break;
            }
        }
        updateInterest();
    }

    private boolean isRead() {
        return !closed && !ending && !in.isBlocked() && !room.isAwaited();
    }

    // --- memory ---

    /** Behind what was read: asks for room for a longer frame, and notes whether a frame is under way. */
    private void settleInput() {
        if (room.isPast(frames)) {
            input.owes(false, loop.turnNs()); // the frame behind it has a time of its own
        }
        if (!closed) {
            room.want(this, frames, in.awaitedLength());
        }
        input.owes(in.bufferAccounting() > 0 && isRead(), loop.turnNs());
        settleOwing();
    }

    /** Bytes that the rest of its frame needs. */
    int wantedRoom() {
        return Math.max(0, in.awaitedLength() - in.capacity());
    }

    /** There is room for the frame for which it has waited. */
    void onRoom() {
        room.granted(frames, wantedRoom(), loop.turnNs());
        input.owes(true, loop.turnNs());
        settleOwing();
        updateInterest();
    }

    private void settleOwing() {
        final boolean now = !closed && (input.isOwed() || output.isOwed());
        if (now != owing) {
            owing = now;
            loop.owes(now ? 1 : -1);
        }
    }

    /** Whether a frame of its, or its answers, are under way. */
    boolean isOwing() {
        return owing;
    }

    /** For how long a frame of its, or its answers, have not got on. */
    long stalledNs(long nowNs) {
        return Math.max(input.ageNs(nowNs), output.ageNs(nowNs));
    }

    /** For how long a long frame has kept its room in memory without getting whole. One that is whole waits for this server. */
    long roomHeldNs(long nowNs) {
        return in.isBlocked() ? 0 : room.heldNs(nowNs);
    }

    void onStalled() {
        loop.port()
                .faults()
                .report(
                        WireFault.STALLED,
                        this,
                        WireFault.STALLED.text() + ": " + in.bufferAccounting() + " bytes of a frame, " + out.pending()
                                + " bytes of answers");
        close();
    }

    /** Memory is short: keeps none for what may come. */
    void trim() {
        out.trim();
    }

    private void greet(ClientHandshake handshake, ByteBuffer more) throws WireException {
        final ClientHandshake.Verdict verdict = handshake.take(more);
        if (verdict == null) {
            return;
        }
        final WireFault fault = verdict.fault();
        out.append(verdict.answer());
        hasOutput();
        if (fault == null) {
            hello = null;
            sendRouting(0, loop.port().routingBytes());
        } else {
            loop.port().faults().report(fault, this, verdict.text());
            ending = true;
            loop.endAfterRefusal(this);
        }
    }

    /** The routing has changed. A client that does not read gets only the newest of those that change meanwhile. */
    void routingChanged() {
        if (closed || hello != null) {
            return;
        }
        routingOwed = true;
        if (out.pending() == 0) {
            settleRouting();
        }
    }

    /** Before anything else is written: what is answered from now on may be answered by the new routing. */
    private void settleRouting() {
        if (routingOwed) {
            sendRouting(0, loop.port().routingBytes());
        }
    }

    /** Tells the routing: as the answer to that number, or of its own accord. */
    private void sendRouting(long number, byte[] routing) {
        if (!closed && hello == null) {
            routingOwed = false;
            BytesFrame.write(out, ClientFrameDescriptor.ROUTING, number, routing);
            hasOutput();
        }
    }

    // --- frames ---

    @Override
    public boolean onFrame(ByteBuffer buffer, int at, int length) throws WireException {
        if (closed || ending) {
            return true;
        }
        if (!isRoomForAnother()) {
            return false;
        }
        frames++;
        switch (FrameHeadDescriptor.type(buffer, at)) {
            case ClientFrameDescriptor.REQUEST -> onRequest(buffer, at, length);
            case ClientFrameDescriptor.SCAN -> {
                settleRouting();
                loop.pages().answer(buffer, at, length, out);
                loop.counts().page();
                hasOutput();
            }
            case ClientFrameDescriptor.ROUTING_WANTED -> {
                if (length != FrameHeadDescriptor.HEAD_LENGTH) {
                    throw new WireException(WireFault.BAD_FRAME, "a question with a body");
                }
                sendRouting(FrameHeadDescriptor.number(buffer, at), loop.port().routingBytes());
            }
            case ClientFrameDescriptor.CHANGES_WANTED -> {
                inFlightWindow++;
                loop.askChanges(this, buffer, at, length);
            }
            case ClientFrameDescriptor.CATALOGUE -> {
                inFlightWindow++;
                loop.counts().catalogueRequest();
                questions.ask(buffer, at, length);
            }
            default -> throw new WireException(WireFault.BAD_FRAME, "type " + FrameHeadDescriptor.type(buffer, at));
        }
        return true;
    }

    private void onRequest(ByteBuffer buffer, int at, int length) throws WireException {
        final int bodyLength = RequestDescriptor.bodyLength(buffer, at, length);
        final PendingRequest pending = loop.requests().takePending();
        try {
            begin(pending, buffer, at, bodyLength);
        } catch (RuntimeException | Error e) {
            loop.requests().forget(pending); // whoever called closes this connection; what was charged ends here
            throw e;
        }
    }

    private void begin(PendingRequest pending, ByteBuffer buffer, int at, int bodyLength) {
        final Request request = pending.request();
        final boolean sound = RequestDescriptor.read(buffer, at, request, pending.body(bodyLength));
        pending.came(
                this,
                FrameHeadDescriptor.number(buffer, at),
                RequestDescriptor.shard(buffer, at),
                RequestDescriptor.term(buffer, at),
                loop.requests().turnNs());
        request.arrivedOn(number);
        inFlightWindow++;
        loop.requests().came(pending);
        if (sound && loop.port().place(request, pending.shard())) {
            loop.requests().admit(pending);
        } else {
            loop.requests().refuse(pending, Status.BAD_REQUEST);
        }
    }

    /** The request has its answer. */
    void answer(PendingRequest pending) {
        inFlightWindow--;
        if (!closed) {
            settleRouting();
            ResponseDescriptor.write(out, pending.request(), pending.number());
            hasOutput();
        }
    }

    /** Something that was asked of somebody else is answered, by this loop. */
    void answerLater(java.util.function.Consumer<FrameEncoder> writer) {
        inFlightWindow--;
        if (!closed) {
            settleRouting();
            writer.accept(out);
            hasOutput();
        }
    }

    ClientEventLoop loop() {
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
            goOn(); // answers make room as writes do
        } catch (WireException e) {
            fail(e);
        } catch (IOException e) {
            LOG.debug("The connection of client {} broke", this, e);
            close();
        }
    }

    /** Takes what had to wait, as long as there is room. */
    private void goOn() throws IOException, WireException {
        while (in.isBlocked() && !closed && isRoomForAnother()) {
            in.resume(this);
            settleInput();
            flush();
        }
        updateInterest();
    }

    private boolean isRoomForAnother() {
        return inFlightWindow < memory.maxInFlight() && out.pending() < memory.maxOutput();
    }

    private void flush() throws IOException {
        final int before = out.pending();
        if (before > 0) {
            final boolean told = out.writeTo(channel);
            final int sent = before - out.pending();
            loop.counts().sent(sent);
            output.moved(sent, loop.turnNs());
            if (told && ending) {
                // What it still sends is read and dropped by the system, or the refusal might be lost.
                channel.shutdownOutput();
            } else if (told) {
                settleRouting();
            }
        }
        output.owes(out.pending() > 0, loop.turnNs());
        settleOwing();
        updateInterest();
    }

    private void updateInterest() {
        if (closed) {
            return;
        }
        final int wanted = (out.pending() > 0 ? SelectionKey.OP_WRITE : 0)
                | (isRead() && !loop.isClosing() ? SelectionKey.OP_READ : 0);
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
            loop.port().faults().report(WireFault.NO_HANDSHAKE, this, WireFault.NO_HANDSHAKE.text());
        }
        close();
    }

    boolean isGreeting() {
        return hello != null || ending;
    }

    /** No reads from now on; true when nothing is owed any more. */
    boolean isDrained() {
        updateInterest();
        return closed || inFlightWindow == 0 && out.pending() == 0;
    }

    private void fail(WireException e) {
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
        room.end(this);
        in.release();
        out.release();
        settleOwing();
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
