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
 * The server's end of one client connection: decodes incoming frames, buffers outgoing ones, and stops reading while
 * the client exceeds its in-flight window or its output limit. Owned by one loop.
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
    private final CatalogueRequests catalogueRequests;
    private final ByteProgress input = new ByteProgress();
    private final ByteProgress output = new ByteProgress();
    private final long sinceNs;
    /** Null after the welcome. */
    private @Nullable ClientHandshake hello;

    private int inFlight;
    private boolean closed;
    /** Refused: nothing more is read; the connection closes after the refusal is sent. */
    private boolean ending;

    /** Whether it is in the loop's list of connections with output. */
    private boolean dirty;

    /** A new routing must be sent before any other frame. */
    private boolean routingOwed;
    /** Of the routing that was sent last. */
    private long sentTerm;

    /** Frames accepted so far. */
    private int frames;

    /** Whether the loop counts this connection among those with a frame or answers in progress. */
    private boolean owing;

    /** @param number of the connection, unique within the port; ≥ 1 */
    ClientConnection(ClientEventLoop loop, SocketChannel channel, long number, long nowNs) {
        this.number = number;
        this.loop = loop;
        this.channel = channel;
        this.sinceNs = nowNs;
        this.memory = loop.memory();
        this.out = new FrameEncoder(FIRST_OUTPUT, memory);
        this.room = new FrameReservations(memory);
        this.catalogueRequests = new CatalogueRequests(this, memory);
        this.in = new FrameDecoder(WirePort.CLIENTS, loop.port().limits(), FrameMemory.onHeap(room));
        this.hello = new ClientHandshake(loop.port());
    }

    /** Sets the selection key. Call once, before any other method. */
    void watched(SelectionKey key) {
        watched = key;
    }

    private SelectionKey key() {
        final SelectionKey key = watched;
        if (key == null) {
            throw new IllegalStateException("the connection has no selection key");
        }
        return key;
    }

    /** Handles readiness of the socket. */
    void onReady(ByteBuffer readBuffer) {
        try {
            final SelectionKey key = key();
            if (!closed && key.isWritable()) {
                flush();
                resumeInput(); // sent bytes made room
            }
            if (!closed && !ending && key.isReadable()) {
                read(readBuffer);
            }
        } catch (WireException e) {
            fail(e);
        } catch (IOException e) {
            LOG.debug("Connection of {} broken", this, e);
            close();
        }
    }

    private void read(ByteBuffer readBuffer) throws IOException, WireException {
        for (int reads = 0; reads < READS_PER_TURN && isRead(); reads++) {
            readBuffer.clear();
            if (memory.isShort()) {
                readBuffer.limit(LoopMemoryBudget.SHORT_READ);
            }
            final int most = readBuffer.remaining();
            final int count = channel.read(readBuffer);
            if (count < 0) {
                close();
                return;
            }
            if (count == 0) {
                return;
            }
            loop.counts().received(count);
            loop.requests().received();
            readBuffer.flip();
            if (hello != null) {
                greet(hello, readBuffer);
            }
            if (hello == null && !ending && !closed) {
                input.moved(count, loop.cycleNs());
                in.take(readBuffer, this);
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

    /** After a read: requests memory for a longer frame, and records whether a frame is in progress. */
    private void settleInput() {
        if (room.isPast(frames)) {
            input.owes(false, loop.cycleNs()); // the next frame has its own deadline
        }
        if (!closed) {
            room.requestRoom(this, frames, in.awaitedLength());
        }
        input.owes(in.heldBytes() > 0 && isRead(), loop.cycleNs());
        settleOwing();
    }

    /** Bytes still missing for the rest of the current frame. */
    int requiredRoom() {
        return Math.max(0, in.awaitedLength() - in.capacity());
    }

    /** The memory for the waiting frame is available. */
    void onRoom() {
        room.granted(frames, requiredRoom(), loop.cycleNs());
        input.owes(true, loop.cycleNs());
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

    /** Whether a frame or answers of this connection are in progress. */
    boolean isOwing() {
        return owing;
    }

    /** How long the current frame or the answers have made no progress. */
    long stalledNs(long nowNs) {
        return Math.max(input.ageNs(nowNs), output.ageNs(nowNs));
    }

    /**
     * How long an incomplete long frame has held its reserved memory. 0 for a complete one: it waits for this server.
     */
    long roomHeldNs(long nowNs) {
        return in.isBlocked() ? 0 : room.heldNs(nowNs);
    }

    void onStalled() {
        loop.port()
                .faults()
                .report(
                        WireFault.STALLED,
                        this,
                        WireFault.STALLED.text() + ": " + in.heldBytes() + " bytes of a frame, " + out.pending()
                                + " bytes of answers");
        close();
    }

    /** Releases idle buffers; called while memory is short. */
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
            sendRouting(0);
        } else {
            loop.port().faults().report(fault, this, verdict.text());
            ending = true;
            loop.endAfterRefusal(this);
        }
    }

    /** Announces a new routing, if it is one for this client. One that does not read receives only the newest of several. */
    void routingChanged() {
        if (closed
                || hello != null
                || sentTerm >= loop.port().routing().announced().term()) {
            return;
        }
        routingOwed = true;
        if (out.pending() == 0) {
            settleRouting();
        }
    }

    /** Precedes every other frame: later answers may depend on the new routing. */
    private void settleRouting() {
        if (routingOwed) {
            sendRouting(0);
        }
    }

    /** Sends the routing: in reply to that request number, or unsolicited with 0. */
    private void sendRouting(long number) {
        if (!closed && hello == null) {
            final PortRouting routing = loop.port().routing();
            routingOwed = false;
            sentTerm = routing.announced().term(); // first: what is sent may be later, and is sent again then
            BytesFrame.write(out, ClientFrameDescriptor.ROUTING, number, routing.announcedBytes());
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
            case ClientFrameDescriptor.ROUTING_REQUEST -> {
                if (length != FrameHeadDescriptor.HEAD_LENGTH) {
                    throw new WireException(WireFault.BAD_FRAME, "a routing request with a body");
                }
                sendRouting(FrameHeadDescriptor.number(buffer, at));
            }
            case ClientFrameDescriptor.CHANGES_REQUEST -> {
                inFlight++;
                loop.askChanges(this, buffer, at, length);
            }
            case ClientFrameDescriptor.CATALOGUE -> {
                inFlight++;
                loop.counts().catalogueRequest();
                catalogueRequests.ask(buffer, at, length);
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
            loop.requests().forget(pending); // the caller closes this connection; the charge of the request ends here
            throw e;
        }
    }

    private void begin(PendingRequest pending, ByteBuffer buffer, int at, int bodyLength) {
        final Request request = pending.request();
        final boolean sound = RequestDescriptor.read(buffer, at, request, pending.body(bodyLength));
        pending.arrived(
                this,
                FrameHeadDescriptor.number(buffer, at),
                RequestDescriptor.shard(buffer, at),
                RequestDescriptor.term(buffer, at),
                loop.requests().cycleNs());
        request.arrivedOn(number);
        inFlight++;
        loop.requests().arrived(pending);
        if (sound && loop.port().routing().place(request, pending.shard())) {
            loop.requests().admit(pending);
        } else {
            loop.requests().refuse(pending, Status.BAD_REQUEST);
        }
    }

    /** Sends the answer of a completed request. */
    void answer(PendingRequest pending) {
        inFlight--;
        if (!closed) {
            settleRouting();
            ResponseDescriptor.write(out, pending.request(), pending.number());
            hasOutput();
        }
    }

    /** Sends the answer of a request completed by another thread, on this loop. */
    void answerLater(java.util.function.Consumer<FrameEncoder> writer) {
        inFlight--;
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

    /** Writes buffered output once, then resumes blocked input. */
    void onCycleEnd() {
        dirty = false;
        if (closed) {
            return;
        }
        try {
            flush();
            resumeInput(); // answers make room as writes do
        } catch (WireException e) {
            fail(e);
        } catch (IOException e) {
            LOG.debug("Connection of {} broken", this, e);
            close();
        }
    }

    /** Processes blocked frames while there is room. */
    private void resumeInput() throws IOException, WireException {
        while (in.isBlocked() && !closed && isRoomForAnother()) {
            in.resume(this);
            settleInput();
            flush();
        }
        updateInterest();
    }

    private boolean isRoomForAnother() {
        return inFlight < memory.maxInFlight() && out.pending() < memory.maxOutput();
    }

    private void flush() throws IOException {
        final int before = out.pending();
        if (before > 0) {
            final boolean drained = out.writeTo(channel);
            final int sent = before - out.pending();
            loop.counts().sent(sent);
            output.moved(sent, loop.cycleNs());
            if (drained && ending) {
                // The system reads and drops further input; a plain close could lose the refusal.
                channel.shutdownOutput();
            } else if (drained) {
                settleRouting();
            }
        }
        output.owes(out.pending() > 0, loop.cycleNs());
        settleOwing();
        updateInterest();
    }

    private void updateInterest() {
        if (closed) {
            return;
        }
        final int interest = (out.pending() > 0 ? SelectionKey.OP_WRITE : 0)
                | (isRead() && !loop.isClosing() ? SelectionKey.OP_READ : 0);
        final SelectionKey key = key();
        if (key.interestOps() != interest) {
            key.interestOps(interest);
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

    /** Stops reading; true when no request and no output is pending. */
    boolean isDrained() {
        updateInterest();
        return closed || inFlight == 0 && out.pending() == 0;
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
            LOG.debug("Closing the connection of {} failed", this, e);
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
