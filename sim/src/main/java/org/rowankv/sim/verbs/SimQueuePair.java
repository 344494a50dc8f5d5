package org.rowankv.sim.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.verbs.RegisteredMemory;
import org.rowankv.rdma.verbs.VerbsConnection;
import org.rowankv.rdma.verbs.VerbsException;
import org.rowankv.rdma.verbs.WorkStatus;
import org.rowankv.sim.verbs.VerbsNetwork.Break;
import org.rowankv.sim.verbs.WorkRequest.Kind;

/**
 * One end of a reliable connection. What is posted arrives in order, a WRITE in parts; a part is read from the sender's
 * memory when it arrives, which is as late as a device may read it. A sender that gives its queue pair up leaves some
 * parts on the wire: those still arrive, unless the receiver has destroyed its own.
 */
final class SimQueuePair implements VerbsConnection {
    private static final int LINE = 64;
    /** Retries of a device, until it gives up: up to twice this. */
    private static final int RETRIES_NS = 400_000_000;

    private static final int LATEST_NS = 1 << 29;
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final VerbsNetwork network;
    private final SimVerbs device;
    private final InetSocketAddress remote;
    private final @Nullable SimQueuePair caller;
    private final ArrayDeque<Part> underWay = new ArrayDeque<>();
    /** Posted and not completed. */
    private final ArrayDeque<WorkRequest> open = new ArrayDeque<>();

    private final ArrayDeque<Receive> receives = new ArrayDeque<>();
    private @Nullable SimQueuePair peer;
    private int maxSends;
    private int maxReceives;
    private boolean created;
    /** In the state of errors: all that is posted is flushed. */
    private boolean failed;
    /** Nothing passes any more, and what was acknowledged is not heard of. */
    private boolean lost;

    private boolean gaveUp;
    /** The first parts of a WRITE have arrived. */
    private boolean isWithinAWrite;

    private boolean destroyed;
    private long lastArrivalNs;
    private long lastReturnNs;

    private record Receive(ByteBuffer memory, int offset, int length, long id) {}

    /** Bytes of a work request that arrive together. */
    private static final class Part {
        private final WorkRequest of;
        private final int from;
        private final int length;
        private long atNs;
        /** Its bytes, if the sender's memory is no longer the device's; null: they are read when it arrives. */
        private byte @Nullable [] bytes;

        Part(WorkRequest of, int from, int length, long atNs) {
            this.of = of;
            this.from = from;
            this.length = length;
            this.atNs = atNs;
        }

        boolean isLast() {
            return from + length == of.length();
        }

        void leaveMemory() {
            if (of.kind() != Kind.READ && bytes == null) {
                final byte[] copy = new byte[length];
                of.memory().get(of.offset() + from, copy);
                bytes = copy;
            }
        }

        /** As one store where it is a word: it is found behind all that came before it. */
        void store(ByteBuffer to, int at) {
            leaveMemory();
            final byte[] stored = bytes;
            if (stored == null) {
                throw new IllegalStateException("a READ stores nothing");
            }
            if (length == Long.BYTES) {
                LONGS.setRelease(to, at, (long) LONGS.get(ByteBuffer.wrap(stored), 0));
            } else {
                to.put(at, stored);
            }
        }
    }

    /** @param caller whose request it answers; null if it connects */
    SimQueuePair(VerbsNetwork network, SimVerbs device, InetSocketAddress remote, @Nullable SimQueuePair caller) {
        this.network = network;
        this.device = device;
        this.remote = remote;
        this.caller = caller;
    }

    int host() {
        return device.host();
    }

    private int remoteHost() {
        return network.hostAt(remote.getPort());
    }

    /** Of its host. */
    InetSocketAddress address() {
        return InetSocketAddress.createUnresolved("simulated", remote.getPort() - remoteHost() + host());
    }

    boolean isOf(int host) {
        return host() == host || remoteHost() == host;
    }

    boolean isDestroyed() {
        return destroyed;
    }

    /** Whether a part of a WRITE is in the receiver's memory, and the rest may still come. */
    boolean isWithinAWrite() {
        final SimQueuePair there = peer;
        return isWithinAWrite && there != null && !there.destroyed;
    }

    private long nowNs() {
        return network.links().nowNs();
    }

    // --- connecting ---

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public void createQueuePair(int sends, int receiveCount) {
        synchronized (network) {
            maxSends = sends;
            maxReceives = receiveCount;
            created = true;
            device.created(this);
        }
    }

    @Override
    public void open() {
        synchronized (network) {
            connect();
        }
    }

    private void connect() {
        final long arrivalNs = network.links().arrivalNs(host(), remoteHost());
        final SimQueuePair calling = caller;
        if (calling == null) {
            network.links().at(arrivalNs, () -> network.request(this, remote.getPort()));
            return;
        }
        if (calling.destroyed) {
            disconnected();
            return;
        }
        peer = calling;
        calling.peer = this;
        network.established(calling);
        network.links().at(arrivalNs, () -> {
            if (!calling.destroyed) {
                calling.device.event(handler -> handler.onEstablished(calling));
            }
        });
    }

    /** It could not be connected. */
    void failed(String why) {
        if (!destroyed) {
            device.event(handler -> handler.onFailed(this, why));
        }
    }

    private void disconnected() {
        if (!destroyed) {
            device.event(handler -> handler.onDisconnected(this));
        }
    }

    // --- posting ---

    @Override
    public SendPosting prepareSend(RegisteredMemory memory, int offset, long id) {
        final ByteBuffer bytes = ((SimVerbs.Local) memory).memory();
        return length -> post(List.of(WorkRequest.send(bytes, offset, length, id)));
    }

    @Override
    public ReceivePosting prepareReceive(RegisteredMemory memory, int offset, int length, long id) {
        final Receive receive = new Receive(((SimVerbs.Local) memory).memory(), offset, length, id);
        return () -> post(receive);
    }

    private void post(Receive receive) throws VerbsException {
        synchronized (network) {
            requireLive(receives.size() < maxReceives);
            if (failed) {
                device.complete(receive.id, WorkStatus.FLUSHED, 0);
            } else {
                receives.add(receive);
            }
        }
    }

    @Override
    public OneSidedPosting prepareOneSided(
            RegisteredMemory memory, int writes, RegisteredMemory target, int targetOffset, long id) {
        final WorkRequest[] chain = new WorkRequest[writes + 1];
        final ByteBuffer from = ((SimVerbs.Local) memory).memory();
        final ByteBuffer to = ((SimVerbs.Local) target).memory();
        return new OneSidedPosting() {
            @Override
            public void write(int index, int offset, int length, long remoteAddress, int remoteKey) {
                chain[index] = new WorkRequest(Kind.WRITE, from, offset, length, id, remoteAddress, remoteKey);
            }

            @Override
            public void read(long remoteAddress, int remoteKey) {
                chain[writes] = new WorkRequest(Kind.READ, to, targetOffset, 1, id, remoteAddress, remoteKey);
            }

            @Override
            public void post() throws VerbsException {
                SimQueuePair.this.post(Arrays.asList(chain.clone()));
            }
        };
    }

    private void requireLive(boolean hasRoom) throws VerbsException {
        if (!created || destroyed) {
            throw new VerbsException("posted without a queue pair");
        }
        if (!hasRoom) {
            throw new VerbsException("posted beyond the queue's length");
        }
    }

    private void post(List<WorkRequest> chain) throws VerbsException {
        synchronized (network) {
            postAll(chain);
        }
    }

    private void postAll(List<WorkRequest> chain) throws VerbsException {
        requireLive(open.size() + chain.size() <= maxSends);
        for (WorkRequest each : chain) {
            if (failed) {
                device.complete(each.id(), WorkStatus.FLUSHED, 0);
                continue;
            }
            open.add(each);
            if (lost) {
                giveUpLater();
            } else {
                send(each);
            }
        }
    }

    private void send(WorkRequest request) {
        int at = 0;
        while (at < request.length()) {
            final int left = request.length() - at;
            final int lines = (network.links().together(left) + LINE - 1) / LINE;
            final int length = request.kind() == Kind.WRITE ? Math.min(left, lines * LINE) : left;
            lastArrivalNs = Math.max(lastArrivalNs, network.links().arrivalNs(host(), remoteHost()));
            underWay.add(new Part(request, at, length, lastArrivalNs));
            network.links().at(lastArrivalNs, this::arrive);
            at += length;
        }
    }

    // --- arrivals ---

    /** The oldest part arrives, if its time has come. */
    private void arrive() {
        final Part part = underWay.peek();
        if (part == null || part.atNs > nowNs()) {
            return;
        }
        final SimQueuePair there = peer;
        if (there == null || there.destroyed || there.failed) {
            underWay.clear();
            giveUpLater();
            return;
        }
        underWay.remove();
        switch (part.of.kind()) {
            case SEND -> receive(part, there);
            case WRITE -> {
                place(part, there);
                if (destroyed || failed) {
                    network.links().count("parts of a WRITE that came behind its sender's end");
                }
            }
            case READ -> {
                final SimVerbs.Exposed read = exposed(part, there);
                final byte found = read.memory().get(offsetIn(read, part));
                acknowledge(part.of, found);
            }
        }
    }

    private void receive(Part part, SimQueuePair there) {
        final Receive receive = there.receives.poll();
        if (receive == null || receive.length < part.length) {
            network.links().violation("a SEND of server " + host() + " found no receive at server " + there.host());
            return;
        }
        part.store(receive.memory, receive.offset);
        there.device.complete(receive.id, WorkStatus.SUCCESS, part.length);
        acknowledge(part.of, (byte) 0);
    }

    private void place(Part part, SimQueuePair there) {
        final SimVerbs.Exposed target = exposed(part, there);
        part.store(target.memory(), offsetIn(target, part));
        isWithinAWrite = !part.isLast();
        if (isWithinAWrite) {
            network.links().count("parts of a WRITE that came before its end");
            network.writing(this);
        }
    }

    private SimVerbs.Exposed exposed(Part part, SimQueuePair there) {
        final SimVerbs.Exposed found = there.device.exposed(part.of.remoteKey());
        if (found == null
                || offsetIn(found, part) < 0
                || offsetIn(found, part) + part.length > found.memory().capacity()) {
            network.links()
                    .violation("server " + host() + " names memory that server " + there.host() + " has not exposed");
            throw new IllegalStateException();
        }
        return found;
    }

    private static int offsetIn(SimVerbs.Exposed exposed, Part part) {
        return (int) (part.of.remoteAddress() - exposed.address()) + part.from;
    }

    private void acknowledge(WorkRequest request, byte read) {
        lastReturnNs = Math.max(lastReturnNs, network.links().arrivalNs(remoteHost(), host()));
        network.links().at(lastReturnNs, () -> acknowledged(request, read));
    }

    private void acknowledged(WorkRequest request, byte read) {
        if (destroyed || failed) {
            return;
        }
        if (lost) {
            network.links().count("acknowledgements lost of what has arrived");
            giveUpLater();
            return;
        }
        while (open.remove().kind() == Kind.WRITE) {
            // It has no acknowledgement of its own.
        }
        if (request.kind() == Kind.READ) {
            request.memory().put(request.offset(), read);
        }
        device.complete(request.id(), WorkStatus.SUCCESS, 0);
    }

    // --- ends ---

    private void giveUpLater() {
        if (!gaveUp && !destroyed && !failed) {
            gaveUp = true;
            network.links().at(nowNs() + 1 + network.random().nextInt(RETRIES_NS), this::fail);
        }
    }

    /** Completes the oldest request with an error, and flushes all others. */
    private void fail() {
        if (destroyed || failed) {
            return;
        }
        failed = true;
        leaveOnTheWire();
        int status = WorkStatus.RETRIES_EXCEEDED;
        for (WorkRequest each : open) {
            device.complete(each.id(), status, 0);
            status = WorkStatus.FLUSHED;
        }
        open.clear();
        receives.forEach(each -> device.complete(each.id, WorkStatus.FLUSHED, 0));
        receives.clear();
    }

    /** Of what is under way, the first parts have left; the others are never sent. */
    private void leaveOnTheWire() {
        final int kept = network.random().nextInt(underWay.size() + 1);
        while (underWay.size() > kept) {
            underWay.removeLast();
        }
        underWay.forEach(Part::leaveMemory);
    }

    /** Breaks it, and the other end. */
    void breakDown(Break how) {
        final SimQueuePair there = peer;
        if (there == null) {
            return;
        }
        final long soonNs = 1L + network.random().nextInt(1 << 20);
        switch (how) {
            case NOTICED -> {
                loseWhatFollows();
                there.loseWhatFollows();
                network.links().at(nowNs() + soonNs, this::fail);
                network.links().at(nowNs() + soonNs + network.random().nextInt(1 << 20), there::fail);
            }
            case SILENT -> {
                loseWhatFollows();
                there.loseWhatFollows();
            }
            case LATE -> {
                fail();
                lost = true;
                delay(1L + network.random().nextInt(LATEST_NS));
                there.lost = true;
            }
        }
    }

    private void loseWhatFollows() {
        lost = true;
        final int kept = network.random().nextInt(underWay.size() + 1);
        while (underWay.size() > kept) {
            underWay.removeLast();
        }
        if (!open.isEmpty()) {
            giveUpLater();
        }
    }

    private void delay(long ns) {
        for (Part part : underWay) {
            part.atNs = Math.max(part.atNs, nowNs() + ns);
            network.links().at(part.atNs, this::arrive);
        }
    }

    @Override
    public void destroy() {
        synchronized (network) {
            destroy(false);
        }
    }

    /** @param isSilent whether the other end is not notified */
    void destroy(boolean isSilent) {
        if (destroyed) {
            return;
        }
        leaveOnTheWire();
        destroyed = true;
        open.clear();
        receives.clear();
        device.destroyed(this);
        network.destroyed(this);
        final SimQueuePair there = peer == null ? caller : peer;
        if (there == null || isSilent || lost) {
            return;
        }
        network.destroyed(there);
        final boolean isRefusal = peer == null;
        network.links().at(network.links().arrivalNs(host(), there.host()), () -> {
            if (isRefusal) {
                there.failed("it refuses");
            } else {
                there.disconnected();
            }
        });
    }
}
