package org.rowankv.rdma.landing;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.landing.wire.CreditAccount;
import org.rowankv.rdma.landing.wire.FrameReader;
import org.rowankv.rdma.landing.wire.PeerFrameDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerHello;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;

/**
 * Receiver's end of one queue pair: lands posted messages in order, and acknowledges cumulatively, once per batch of
 * arrivals.
 *
 * <p>A message without a posted segment waits here with all later ones, and the sender is notified. Other senders use
 * other connections and do not wait for it: they land if they may use the reserve, or if their messages are shorter.
 *
 * <p>Runs on the NIC agent's event loop, unless stated. Fields guarded by the receive queue's monitor are marked.
 */
final class LandingConnection extends FrameReader {
    private final PeerHello peer;
    private final LandingEndpoint endpoint;
    private final EndpointSettings settings;
    private final LandedQueue queue;
    private final @Nullable ForcedLanding forced;
    private final Channel channel;
    private final int longestSend;
    private final int lingerMs;
    private CreditAccount credit = new CreditAccount(new CreditAccount.Total());

    /** Guarded by the queue's monitor. */
    private volatile boolean cutOff;

    /** Guarded by the queue's monitor: operations done, in order. */
    private long done;

    private boolean sparesLast;
    private boolean toldReady;
    private boolean announces;
    private long asked;
    private long lastAcked;
    private long lastGranted;
    private long lastAsked;
    private long forcing;
    private long forcedUpTo;
    private boolean endReported;

    /** @param maxMessage longest SEND that both ends allow */
    LandingConnection(
            PeerHello peer, int maxMessage, Channel channel, LandingEndpoint endpoint, LandingFabricSettings fabric) {
        super(endpoint.faults(), fabric.clock());
        this.peer = peer;
        this.endpoint = endpoint;
        this.channel = channel;
        this.settings = endpoint.settings();
        this.queue = endpoint.queue();
        this.forced = endpoint.forced();
        this.longestSend = PeerFrameDescriptor.HEAD_LENGTH + maxMessage - FrameDescriptor.HEADER_LENGTH;
        this.sparesLast = fabric.keepsReserve();
        this.lingerMs = fabric.connectTimeoutMs();
    }

    /** Whether the welcome may report a posted segment. */
    boolean firstReady() {
        toldReady = queue.isReady(sparesLast);
        return toldReady;
    }

    /** The sender's hello. */
    PeerHello peer() {
        return peer;
    }

    int senderId() {
        return peer.from();
    }

    CreditAccount credit() {
        return credit;
    }

    /** Set before anything is read. */
    void account(CreditAccount account) {
        credit = account;
    }

    /** Whether the last posted segment is reserved for other senders. */
    boolean sparesLast() {
        return sparesLast;
    }

    /** Under the queue's monitor, or as a hint. */
    boolean isCutOff() {
        return cutOff;
    }

    /** Under the queue's monitor: nothing of this sender lands afterwards. */
    void cutOff() {
        cutOff = true;
    }

    /** Under the queue's monitor: bytes of the current operation were written. */
    void landed(long address, long length) {
        if (forced != null) {
            forced.landed(address, length);
        }
    }

    @Override
    public int longest(int type) {
        return switch (type) {
            case PeerFrameDescriptor.SEND -> longestSend;
            case PeerFrameDescriptor.USE_RESERVE,
                    PeerFrameDescriptor.CREDIT_REQUEST,
                    PeerFrameDescriptor.CREDIT_RETURN,
                    PeerFrameDescriptor.PING -> PeerFrameDescriptor.HEAD_LENGTH;
            default -> -1;
        };
    }

    @Override
    protected boolean onFrame(ByteBuffer buffer, int at, int length) throws WireException {
        final int type = FrameHeadDescriptor.type(buffer, at);
        switch (type) {
            case PeerFrameDescriptor.SEND -> {
                return onSend(buffer, at, length);
            }
            case PeerFrameDescriptor.USE_RESERVE -> {
                sparesLast = false;
                announces = true;
            }
            case PeerFrameDescriptor.CREDIT_REQUEST -> onCreditRequest(PeerFrameDescriptor.first(buffer, at));
            case PeerFrameDescriptor.CREDIT_RETURN ->
                credit.returned(settings.credit(), PeerFrameDescriptor.first(buffer, at));
            default -> {
                // A ping, which has updated the time of the last read.
            }
        }
        return true;
    }

    private boolean onSend(ByteBuffer buffer, int at, int length) throws WireException {
        if (cutOff) {
            return true;
        }
        final long number = FrameHeadDescriptor.number(buffer, at);
        if (number != done + 1) {
            throw new WireException(WireFault.OUT_OF_ORDER, "SEND " + number + " after " + done);
        }
        final int status = land(buffer, at, length - PeerFrameDescriptor.HEAD_LENGTH);
        if (status == LandedQueue.LANDED) {
            synchronized (queue) {
                done = number;
            }
        }
        return status != LandedQueue.NOT_READY;
    }

    private int land(ByteBuffer buffer, int at, int payload) throws WireException {
        final long type = PeerFrameDescriptor.second(buffer, at);
        if (type < 1 || type > FrameDescriptor.MAX_TYPE) {
            throw new WireException(WireFault.BAD_FRAME, "no entry has type " + type);
        }
        Chaos.point("tcp.arrived");
        return queue.land(
                this,
                buffer,
                at + PeerFrameDescriptor.HEAD_LENGTH,
                payload,
                (int) type,
                (int) PeerFrameDescriptor.first(buffer, at),
                FrameHeadDescriptor.small(buffer, at));
    }

    private void onCreditRequest(long requested) throws WireException {
        if (requested <= 0) {
            throw new WireException(WireFault.BAD_FRAME, "a request of " + requested + " bytes of credit");
        }
        if (cutOff) {
            return;
        }
        asked += requested;
        credit.grant(settings.credit(), requested);
    }

    @Override
    protected void onBatchEnd() {
        queue.landed();
        if (forced != null) {
            forced.drain();
        }
        acknowledge();
    }

    /** A segment was posted: continues with waiting messages, and notifies the sender. */
    void onPosted() {
        final ChannelHandlerContext here = context();
        if (here != null && isWaiting()) {
            resume(here);
        } else {
            acknowledge();
        }
    }

    /** Reports progress since the last report, unless the previous report is still unsent. */
    private void acknowledge() {
        if (cutOff || !channel.isActive()) {
            return;
        }
        final boolean ready = !isWaiting() && queue.isReady(sparesLast);
        final long upTo = forced == null ? done : forcedUpTo;
        final boolean news = upTo != lastAcked
                || asked != lastAsked
                || credit.granted() != lastGranted
                || ready != toldReady
                || announces;
        if (news && channel.isWritable()) {
            writeAck(upTo, ready);
        } else {
            final var unused = channel.flush();
        }
    }

    private void writeAck(long upTo, boolean ready) {
        announces = false;
        toldReady = ready;
        lastAcked = upTo;
        lastAsked = asked;
        lastGranted = credit.granted();
        final int flags = ready ? 0 : PeerFrameDescriptor.NOT_READY;
        send(channel, PeerFrameDescriptor.ACK, flags, upTo, lastGranted, lastAsked);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext changed) {
        if (channel.isWritable()) {
            if (isWaiting()) {
                resume(changed);
            } else {
                acknowledge();
            }
        }
    }

    /** Records what the starting drain will cover. */
    void forceBegins() {
        synchronized (queue) {
            forcing = done;
        }
    }

    /** Handles the end of the drain. */
    void forceEnded() {
        forcedUpTo = forcing;
        acknowledge();
    }

    @Override
    protected String describe() {
        return "server " + senderId() + ", queue pair " + peer.pair();
    }

    @Override
    protected void onHeld(int delta) {
        endpoint.held(delta);
    }

    @Override
    protected void onHeartbeat(Channel to) {
        writeAck(forced == null ? done : forcedUpTo, toldReady && !isWaiting());
    }

    /**
     * Reports to the sender how much landed and that nothing more will, then closes. Any thread, after {@link #cutOff}.
     */
    void sendFenced() {
        LandingFabric.execute(channel.eventLoop(), this::writeFenced);
    }

    private void writeFenced() {
        if (endReported || !channel.isActive()) {
            return;
        }
        endReported = true;
        final long upTo = forced == null ? done : forcedUpTo;
        final SegmentLeases leases = endpoint.leases();
        if (leases != null && leases.endedConnection(senderId()) != 0) {
            write(
                    channel,
                    PeerFrameDescriptor.FENCED_AT,
                    0,
                    leases.endedConnection(senderId()),
                    leases.endedAt(senderId()),
                    0);
        }
        send(channel, PeerFrameDescriptor.FENCED, 0, upTo, credit.granted(), done);
        // The sender closes when it has heard it. Closed from here with bytes of it unread, TCP would throw the notice
        // away: they are read, and dropped.
        final ChannelHandlerContext here = context();
        if (here != null) {
            resume(here);
        }
        final var unusedTimer = channel.eventLoop().schedule(this::closeChannel, lingerMs, TimeUnit.MILLISECONDS);
    }

    private void closeChannel() {
        final var unused = channel.close();
    }

    @Override
    protected void onEnd() {
        queue.forget(this);
        endpoint.ended(this);
    }
}
