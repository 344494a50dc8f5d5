package org.rowankv.server.opening;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;
import org.rowankv.rdma.CompletionHandler;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.FabricCapabilities;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.rdma.local.LocalFabric;
import org.rowankv.rdma.local.LocalFabricSettings;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryType;

/** A local fabric in which a test decides how many messages pass from one server to another. Thread-safe. */
final class GatedFabric implements Fabric {
    static final int MESSAGE = 1024;

    private final LocalFabric below = new LocalFabric(LocalFabricSettings.of(with -> {
        with.maxMessage = MESSAGE;
        with.keepsReserve = true;
    }));
    private final Map<Integer, Gate> gates = new TreeMap<>();

    /** From one server to another. */
    static final class Gate {
        private int entries = Integer.MAX_VALUE;
        private boolean passesRecords = true;
        private long credit;
        private int passed;

        /** So many more entries, or blocks of one, pass. */
        synchronized void allowEntries(int count) {
            entries = count;
        }

        synchronized void allowRecords(boolean pass) {
            passesRecords = pass;
        }

        /** Entries and blocks that passed. */
        synchronized int passed() {
            return passed;
        }

        private synchronized boolean passes(int type) {
            return type == EntryType.COMMIT_VECTOR ? passesRecords : entries > 0;
        }

        private synchronized void hasPassed(int type) {
            if (type != EntryType.COMMIT_VECTOR) {
                passed++;
                entries -= entries == Integer.MAX_VALUE ? 0 : 1;
            }
        }

        /** What the sender holds or has used; from now on nothing. */
        private synchronized long takeCredit() {
            final long taken = credit;
            credit = 0;
            return taken;
        }

        private synchronized void granted(long bytes) {
            credit += bytes;
        }
    }

    Gate gate(int from, int to) {
        synchronized (gates) {
            return gates.computeIfAbsent(from << 8 | to, unused -> new Gate());
        }
    }

    @Override
    public FabricCapabilities capabilities() {
        return below.capabilities();
    }

    @Override
    public Endpoint open(EndpointSettings settings) {
        return new GatedEndpoint(settings.serverId(), below.open(settings));
    }

    @Override
    public void close() {
        below.close();
    }

    private final class GatedEndpoint implements Endpoint {
        private final int server;
        private final Endpoint endpoint;

        GatedEndpoint(int server, Endpoint endpoint) {
            this.server = server;
            this.endpoint = endpoint;
        }

        @Override
        public ReceiveQueue receiveQueue() {
            return endpoint.receiveQueue();
        }

        @Override
        public QueuePair connect(int remoteServerId, long remoteIncarnation, long term) {
            return new GatedPair(
                    gate(server, remoteServerId), endpoint.connect(remoteServerId, remoteIncarnation, term));
        }

        @Override
        public int message(int remoteServerId, ByteBuffer message) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int pollMessages(int limit) {
            return 0;
        }

        @Override
        public long takeCredit(int remoteServerId, long remoteIncarnation) {
            return gate(remoteServerId, server).takeCredit();
        }

        @Override
        public void close() {
            endpoint.close();
        }
    }

    private final class GatedPair implements QueuePair {
        private final Gate gate;
        private final QueuePair pair;

        GatedPair(Gate gate, QueuePair pair) {
            this.gate = gate;
            this.pair = pair;
        }

        @Override
        public int send(long context, ByteBuffer source, int offset, int length, int tag) {
            final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(source, offset));
            if (!gate.passes(type)) {
                return PostStatus.QUEUE_FULL;
            }
            final int status = pair.send(context, source, offset, length, tag);
            if (status == PostStatus.POSTED) {
                gate.hasPassed(type);
            }
            return status;
        }

        @Override
        public int poll(CompletionHandler handler, int limit) {
            return pair.poll(handler, limit);
        }

        @Override
        public long acquireCredit(long requested) {
            final long granted = pair.acquireCredit(requested);
            gate.granted(granted);
            return granted;
        }

        @Override
        public void returnCredit(long bytes) {
            pair.returnCredit(bytes);
            gate.granted(-bytes);
        }

        @Override
        public void useReserve() {
            pair.useReserve();
        }

        @Override
        public boolean isFenced() {
            return pair.isFenced();
        }

        @Override
        public int remoteServerId() {
            return pair.remoteServerId();
        }

        @Override
        public void close() {
            pair.close();
        }
    }
}
