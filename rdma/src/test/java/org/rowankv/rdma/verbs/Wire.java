package org.rowankv.rdma.verbs;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.function.Consumer;

/** A device that is connected only with itself, carries at once, and allocates nothing for it. For one thread. */
public final class Wire implements Verbs {
    private static final int CAPACITY = 1 << 16;

    private final long[] ids = new long[CAPACITY];
    private final int[] lengths = new int[CAPACITY];
    private final ArrayDeque<Consumer<ConnectionEventHandler>> events = new ArrayDeque<>();
    private int first;
    private int last;

    private record Memory(ByteBuffer bytes) implements RegisteredMemory {
        @Override
        public int length() {
            return bytes.capacity();
        }
    }

    private void complete(long id, int length) {
        ids[last & (CAPACITY - 1)] = id;
        lengths[last & (CAPACITY - 1)] = length;
        last++;
    }

    @Override
    public InetSocketAddress listen(InetSocketAddress address, int backlog, int completions) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    }

    @Override
    public RegisteredMemory register(ByteBuffer memory) {
        return new Memory(memory);
    }

    @Override
    public ExposedMemory expose(ByteBuffer memory) {
        throw new UnsupportedOperationException();
    }

    @Override
    public VerbsConnection connect(InetSocketAddress remote, int timeoutMs) {
        final End caller = new End();
        events.add(handler -> handler.onResolved(caller));
        return caller;
    }

    @Override
    public int pollWork(WorkHandler handler) {
        int count = 0;
        while (first != last) {
            final int at = first & (CAPACITY - 1);
            first++;
            count++;
            handler.onWork(ids[at], WorkStatus.SUCCESS, lengths[at]);
        }
        return count;
    }

    @Override
    public int pollEvents(ConnectionEventHandler handler) {
        int count = 0;
        while (!events.isEmpty()) {
            events.remove().accept(handler);
            count++;
        }
        return count;
    }

    @Override
    public void close() {
        // It has nothing.
    }

    private final class Receive implements VerbsConnection.ReceivePosting {
        private final End end;
        private final ByteBuffer bytes;
        private final int offset;
        private final long id;

        Receive(End end, ByteBuffer bytes, int offset, long id) {
            this.end = end;
            this.bytes = bytes;
            this.offset = offset;
            this.id = id;
        }

        @Override
        public void post() {
            end.receives.add(this);
        }
    }

    private final class End implements VerbsConnection {
        private final ArrayDeque<Receive> receives = new ArrayDeque<>();
        private End peer;

        @Override
        public InetSocketAddress remoteAddress() {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        }

        @Override
        public void createQueuePair(int sends, int receiveCount) {
            // It is one.
        }

        @Override
        public SendPosting prepareSend(RegisteredMemory memory, int offset, long id) {
            final ByteBuffer bytes = ((Memory) memory).bytes;
            return length -> {
                final Receive receive = peer.receives.remove();
                receive.bytes.put(receive.offset, bytes, offset, length);
                complete(receive.id, length);
                complete(id, 0);
            };
        }

        @Override
        public ReceivePosting prepareReceive(RegisteredMemory memory, int offset, int length, long id) {
            return new Receive(this, ((Memory) memory).bytes, offset, id);
        }

        @Override
        public OneSidedPosting prepareOneSided(
                RegisteredMemory memory, int writes, RegisteredMemory target, int targetOffset, long id) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void open() {
            if (peer == null) {
                final End called = new End();
                called.peer = this;
                peer = called;
                events.add(handler -> handler.onRequest(called));
            } else {
                events.add(handler -> handler.onEstablished(peer));
            }
        }

        @Override
        public void destroy() {
            final End other = peer;
            if (other != null) {
                events.add(handler -> handler.onDisconnected(other));
            }
        }
    }
}
