package org.rowankv.rdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.verbs.RegisteredMemory;
import org.rowankv.rdma.verbs.VerbsConnection;
import org.rowankv.rdma.verbs.VerbsConnection.OneSidedPosting;
import org.rowankv.rdma.verbs.VerbsConnection.ReceivePosting;
import org.rowankv.rdma.verbs.VerbsConnection.SendPosting;
import org.rowankv.rdma.verbs.VerbsException;
import org.rowankv.rdma.verbs.WorkStatus;

/**
 * A stream of bytes over one queue pair. Writes are copied into the slots of SENDs, as many as fit one; a received slot
 * is passed on as it lies, and posted again when it was read. While this end does not read, slots stay taken, so the
 * other end stops: {@link SlotAccount}.
 *
 * <p>Closed, it waits for the completions of its SENDs before it disconnects, as TCP does, and a while at most. On its
 * event loop only, except for what Netty reads.
 */
final class VerbsChannel extends AbstractChannel implements OneSidedChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(false);

    private final VerbsIoHandler handler;
    private final ChannelConfig config = new DefaultChannelConfig(this);
    private final int slots;
    private final int slotLength;
    private final SlotAccount account;
    private final SendPosting[] sends;
    private final ReceivePosting[] receives;
    /** Slots that have arrived and were not passed on, in order, and their lengths. */
    private final int[] arrivedSlots;

    private final int[] arrivedLengths;
    private int firstArrived;
    private int arrived;
    private @Nullable VerbsConnection connection;
    private @Nullable SlotMemory slotMemory;
    private @Nullable ChannelPromise connecting;
    private volatile @Nullable InetSocketAddress remote;
    private volatile boolean open = true;
    private volatile boolean active;
    /** 0 before it is registered. */
    private long number;

    private final Filler filler = new Filler();
    private int nextSend;
    /** SENDs without completion: the last ones before {@link #nextSend}. */
    private int outstanding;

    private boolean isBlocked;
    private boolean readRequested;
    private boolean delivering;
    private boolean touched;
    private @Nullable VerbsException end;
    private long lingersUntilNs;
    private @Nullable CompletionListener oneSided;

    /** @param accepted the request that it accepts; null if it connects */
    VerbsChannel(VerbsIoHandler handler, @Nullable Channel parent, @Nullable VerbsConnection accepted) {
        super(parent);
        this.handler = handler;
        this.slots = handler.settings().slots();
        this.slotLength = handler.settings().slotLength();
        this.account = new SlotAccount(slots);
        this.sends = new SendPosting[slots];
        this.receives = new ReceivePosting[slots];
        this.arrivedSlots = new int[slots];
        this.arrivedLengths = new int[slots];
        this.connection = accepted;
        this.remote = accepted == null ? null : accepted.remoteAddress();
    }

    /** Creates the queue pair, posts all receives, and connects or accepts. */
    void open() throws VerbsException {
        final VerbsConnection own = requireConnection();
        enter();
        own.createQueuePair(slots + handler.settings().oneSided(), slots);
        final SlotMemory memory = handler.takeMemory();
        slotMemory = memory;
        for (int slot = 0; slot < slots; slot++) {
            sends[slot] =
                    own.prepareSend(memory.registered(), memory.sendOffset(slot), VerbsIoHandler.sendId(number, slot));
            receives[slot] = own.prepareReceive(
                    memory.registered(),
                    memory.receiveOffset(slot),
                    slotLength,
                    VerbsIoHandler.receiveId(number, slot));
            receives[slot].post();
        }
        own.open();
        if (parent() != null) {
            active = true;
        }
    }

    private VerbsConnection requireConnection() throws VerbsException {
        if (connection != null) {
            return connection;
        }
        throw new VerbsException("it is closed");
    }

    private void enter() {
        if (number == 0) {
            number = handler.enter(this);
        }
    }

    void onResolved() {
        try {
            open();
        } catch (VerbsException e) {
            end(e);
        }
    }

    void onEstablished() {
        final ChannelPromise promise = connecting;
        if (promise == null || !open) {
            return; // an accepted one is active already
        }
        connecting = null;
        active = true;
        final boolean unused = promise.trySuccess();
        pipeline().fireChannelActive();
    }

    private void timeOut() {
        if (connecting != null) {
            end(new VerbsException("no answer in time"));
        }
    }

    // --- the device's ---

    void onSent(int slot, int status) {
        outstanding--;
        if (status != WorkStatus.SUCCESS) {
            end(new VerbsException("SEND failed: " + WorkStatus.text(status)));
        } else {
            assert slot == ((nextSend - outstanding - 1) & (slots - 1)) : "a completion out of order";
            proceed();
        }
    }

    void onOneSided(int posting, int status) {
        if (oneSided != null && open) {
            oneSided.onOneSided(posting, status);
        }
    }

    void onReceived(int slot, int status, int length) {
        if (!open) {
            return;
        }
        final SlotMemory memory = slotMemory;
        if (status != WorkStatus.SUCCESS || memory == null) {
            end(new VerbsException("receive failed: " + WorkStatus.text(status)));
            return;
        }
        try {
            account.onReport(SlotDescriptor.freed(memory.memory(), memory.receiveOffset(slot), length));
            if (length == SlotDescriptor.HEADER_LENGTH) {
                free(slot);
            } else {
                final int at = (firstArrived + arrived) & (slots - 1);
                arrivedSlots[at] = slot;
                arrivedLengths[at] = length;
                arrived++;
            }
        } catch (VerbsException e) {
            end(e);
        }
        touch();
        proceed();
    }

    private void touch() {
        if (!touched) {
            touched = true;
            handler.touch(this);
        }
    }

    /** Ends the connection once what has arrived before was passed on. */
    void end(VerbsException why) {
        if (end == null) {
            end = why;
            touch();
        }
    }

    private void free(int slot) throws VerbsException {
        receives[slot].post();
        account.freed();
    }

    /** Passes on what has arrived and is requested. */
    void deliver() {
        touched = false;
        if (!open || delivering) {
            return;
        }
        delivering = true;
        try {
            passArrived();
            report();
        } catch (VerbsException e) {
            end(e);
        } finally {
            delivering = false;
        }
        endIfPassed();
    }

    private void passArrived() throws VerbsException {
        final SlotMemory memory = slotMemory;
        if (memory == null || !readRequested || arrived == 0) {
            return;
        }
        readRequested = false;
        int count = arrived;
        do {
            final int slot = arrivedSlots[firstArrived];
            final int length = arrivedLengths[firstArrived];
            firstArrived = (firstArrived + 1) & (slots - 1);
            arrived--;
            count--;
            final ByteBuf view = memory.received(slot);
            pipeline()
                    .fireChannelRead(
                            view.setIndex(SlotDescriptor.HEADER_LENGTH, length).retain());
            if (view.refCnt() != 1) {
                throw new IllegalStateException("a handler keeps a slot");
            }
            if (open) {
                free(slot);
            }
        } while (count > 0 && open && config.isAutoRead());
        if (open) {
            pipeline().fireChannelReadComplete();
        }
    }

    private void endIfPassed() {
        final VerbsException why = end;
        if (why == null || !open || arrived > 0) {
            return;
        }
        final ChannelPromise promise = connecting;
        connecting = null;
        if (promise != null) {
            final boolean unused = promise.tryFailure(why);
        } else {
            pipeline().fireExceptionCaught(why);
        }
        unsafe().close(voidPromise());
    }

    /** Sends what has waited for a slot. */
    private void proceed() {
        if (isBlocked && open && end == null) {
            isBlocked = false;
            unsafe().flush();
        }
        try {
            report();
        } catch (VerbsException e) {
            end(e);
        }
    }

    private void report() throws VerbsException {
        if (account.owesReport() && account.maySendReport() && outstanding < slots && open && end == null) {
            send(requireMemory(), 0);
        }
    }

    private SlotMemory requireMemory() throws VerbsException {
        final SlotMemory memory = slotMemory;
        if (memory == null) {
            throw new VerbsException("it is not connected");
        }
        return memory;
    }

    private void send(SlotMemory memory, int bytes) throws VerbsException {
        final int slot = nextSend & (slots - 1);
        SlotDescriptor.header(memory.memory(), memory.sendOffset(slot), account.send());
        nextSend++;
        outstanding++;
        sends[slot].post(SlotDescriptor.HEADER_LENGTH + bytes);
    }

    @Override
    public OneSidedPosting prepareOneSided(
            RegisteredMemory memory, int writes, RegisteredMemory target, int targetOffset, int posting)
            throws VerbsException {
        return requireConnection()
                .prepareOneSided(memory, writes, target, targetOffset, VerbsIoHandler.oneSidedId(number, posting));
    }

    @Override
    public void onOneSided(CompletionListener listener) {
        oneSided = listener;
    }

    @Override
    public void abort() {
        end = end == null ? new VerbsException("it is fenced") : end; // so its SENDs are not waited for
        unsafe().close(voidPromise());
        if (connection != null) {
            release(); // it was closed, and lingered
        }
    }

    // --- Netty's interface ---

    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public boolean isActive() {
        return open && active;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return handler.isOf(loop);
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        enter();
        promise.setSuccess();
    }

    @Override
    protected @Nullable SocketAddress localAddress0() {
        return null;
    }

    @Override
    protected @Nullable SocketAddress remoteAddress0() {
        return remote;
    }

    @Override
    protected void doBind(SocketAddress address) {
        throw new UnsupportedOperationException("it connects");
    }

    @Override
    protected void doDisconnect() {
        doClose();
    }

    @Override
    protected void doBeginRead() {
        readRequested = true;
        if (!delivering && (arrived > 0 || end != null)) {
            eventLoop().execute(this::deliver);
        }
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer out) throws Exception {
        while (open && out.current() instanceof ByteBuf first) {
            if (!first.isReadable()) {
                out.remove();
            } else if (account.maySendBytes() && outstanding < slots) {
                final SlotMemory memory = requireMemory();
                final int bytes = filler.fill(memory, out);
                send(memory, bytes);
                out.removeBytes(bytes); // last: a listener may close
            } else {
                isBlocked = true;
                return;
            }
        }
    }

    /** Copies flushed bytes into the next slot. */
    private final class Filler implements ChannelOutboundBuffer.MessageProcessor {
        private @Nullable ByteBuffer target;
        private int at;
        private int room;

        int fill(SlotMemory memory, ChannelOutboundBuffer out) throws Exception {
            target = memory.memory();
            at = memory.sendOffset(nextSend & (slots - 1)) + SlotDescriptor.HEADER_LENGTH;
            room = slotLength - SlotDescriptor.HEADER_LENGTH;
            out.forEachFlushedMessage(this);
            return slotLength - SlotDescriptor.HEADER_LENGTH - room;
        }

        @Override
        public boolean processMessage(Object message) {
            final ByteBuffer slot = target;
            if (slot == null || !(message instanceof ByteBuf bytes)) {
                return false;
            }
            final int part = Math.min(room, bytes.readableBytes());
            if (part > 0) {
                final ByteBuffer source = bytes.internalNioBuffer(bytes.readerIndex(), part);
                slot.put(at, source, source.position(), part);
                at += part;
                room -= part;
            }
            return room > 0;
        }
    }

    @Override
    protected void doClose() {
        if (!open) {
            return;
        }
        open = false;
        final ChannelPromise promise = connecting;
        connecting = null;
        if (promise != null) {
            final boolean unused = promise.tryFailure(new ClosedChannelException());
        }
        if (active && end == null && outstanding > 0) {
            handler.linger(this);
        } else {
            release();
        }
    }

    void lingerUntil(long timeNs) {
        lingersUntilNs = timeNs;
    }

    boolean hasLingered(long nowNs) {
        return outstanding == 0 || end != null || nowNs - lingersUntilNs >= 0;
    }

    /** Gives up its queue pair and its memory. */
    void release() {
        open = false;
        handler.release(number, connection, slotMemory);
        connection = null;
        slotMemory = null;
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new Connecting();
    }

    private final class Connecting extends AbstractUnsafe {
        @Override
        public void connect(SocketAddress to, @Nullable SocketAddress from, ChannelPromise promise) {
            if (!promise.setUncancellable() || !ensureOpen(promise)) {
                return;
            }
            final InetSocketAddress address = (InetSocketAddress) to;
            final int timeoutMs = config.getConnectTimeoutMillis();
            remote = address;
            try {
                connection = handler.connect(VerbsChannel.this, address, timeoutMs);
            } catch (VerbsException e) {
                final boolean unused = promise.tryFailure(e);
                close(voidPromise());
                return;
            }
            connecting = promise;
            final var unused = eventLoop().schedule(VerbsChannel.this::timeOut, timeoutMs, TimeUnit.MILLISECONDS);
        }
    }
}
