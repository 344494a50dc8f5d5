package org.rowankv.server.replication;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.rowankv.rdma.CompletionHandler;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.ReceiveQueue;

/** Servers that accept every message, and acknowledge at once or as the test decides; or refuse every connection. */
public final class ScriptedServers implements Endpoint {
    private final List<Pair> pairs = new ArrayList<>();
    private boolean acknowledgesAtOnce;
    private long pauseNs;
    private int refusals;

    /** One connection to a server. */
    public static final class Pair implements QueuePair {
        private final int server;
        private final long incarnation;
        private final boolean acknowledgesAtOnce;
        private final List<Integer> tags = new ArrayList<>();
        private final List<ByteBuffer> messages = new ArrayList<>();
        private final Deque<Long> unacknowledged = new ArrayDeque<>();
        private int due;
        private boolean failsAtReturn;
        private long granted;
        private boolean isClosed;
        private boolean isFenced;
        private int landed;

        Pair(int server, long incarnation, boolean acknowledgesAtOnce) {
            this.server = server;
            this.incarnation = incarnation;
            this.acknowledgesAtOnce = acknowledgesAtOnce;
        }

        public long incarnation() {
            return incarnation;
        }

        public boolean isClosed() {
            return isClosed;
        }

        /** The tags of the messages that it has received. */
        public List<Integer> tags() {
            return tags;
        }

        /** Copies of the messages that it has received. */
        public List<ByteBuffer> messages() {
            return messages;
        }

        /** Bytes of credit that are granted and not given back. */
        long granted() {
            return granted;
        }

        /** Acknowledges so many more messages at the next poll. */
        public void acknowledge(int count) {
            due += count;
        }

        @Override
        public int send(long context, ByteBuffer source, int offset, int length, int tag) {
            if (isClosed) {
                throw new AssertionError("sent through a closed pair");
            }
            tags.add(tag);
            final ByteBuffer copy = ByteBuffer.allocate(length).order(source.order());
            messages.add(copy.put(0, source, offset, length));
            unacknowledged.add(context);
            return PostStatus.POSTED;
        }

        @Override
        public int poll(CompletionHandler handler, int limit) {
            int polled = 0;
            while (!unacknowledged.isEmpty() && !isFenced && (acknowledgesAtOnce || due > 0)) {
                due -= acknowledgesAtOnce ? 0 : 1;
                landed++;
                handler.onCompletion(unacknowledged.remove(), CompletionStatus.LANDED);
                polled++;
            }
            return polled;
        }

        @Override
        public long acquireCredit(long wanted) {
            granted += wanted;
            return wanted;
        }

        @Override
        public void returnCredit(long bytes) {
            granted -= bytes;
            if (failsAtReturn) {
                failsAtReturn = false;
                throw new IllegalStateException("planned: behind the return of credit");
            }
        }

        /** An error strikes behind the next return of credit. */
        void failAtReturn() {
            failsAtReturn = true;
        }

        @Override
        public void useReserve() {
            // All space is alike.
        }

        /** The connection breaks: nothing more is sent or acknowledged through it. */
        public void fence() {
            isFenced = true;
        }

        /** Copies of the messages that it has acknowledged. */
        public List<ByteBuffer> landed() {
            return messages.subList(0, landed);
        }

        @Override
        public boolean isFenced() {
            return isFenced;
        }

        @Override
        public int remoteServerId() {
            return server;
        }

        @Override
        public void close() {
            isClosed = true;
        }
    }

    public void acknowledgeAtOnce() {
        acknowledgesAtOnce = true;
    }

    /** The latest connection to that server. */
    public Pair to(int server) {
        for (int i = pairs.size() - 1; i >= 0; i--) {
            if (pairs.get(i).server == server) {
                return pairs.get(i);
            }
        }
        throw new AssertionError("no connection to server " + server);
    }

    /** From now on they refuse connections, which are tried again after a pause. */
    void refuse(long thenPauseNs) {
        pauseNs = thenPauseNs;
    }

    /** Connections that they have refused. */
    int refusals() {
        return refusals;
    }

    @Override
    public long retryNs() {
        return pauseNs;
    }

    /** All connections to that server. */
    public List<Pair> all(int server) {
        return pairs.stream().filter(pair -> pair.server == server).toList();
    }

    public boolean isConnected(int server) {
        return pairs.stream().anyMatch(pair -> pair.server == server);
    }

    @Override
    public ReceiveQueue receiveQueue() {
        throw new UnsupportedOperationException();
    }

    @Override
    public QueuePair connect(int remoteServerId, long remoteIncarnation, long ofTerm) {
        if (pauseNs > 0) {
            refusals++;
            throw new FabricException(FabricException.Reason.NOT_ADMITTED, "not announced yet");
        }
        final Pair pair = new Pair(remoteServerId, remoteIncarnation, acknowledgesAtOnce);
        pairs.add(pair);
        return pair;
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
    public void close() {
        // Nothing is held.
    }
}
