package org.rowankv.rdma.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A device that is connected only with itself, carries at once, and allocates nothing for it. For one thread. */
public final class Wire implements Verbs {
    private static final int CAPACITY = 1 << 16;

    private final long[] ids = new long[CAPACITY];
    private final int[] lengths = new int[CAPACITY];
    private final ArrayDeque<Consumer<ConnectionEventHandler>> events = new ArrayDeque<>();
    private int first;
    private int last;

    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final List<ByteBuffer> exposed = new ArrayList<>();

    private interface Local extends RegisteredMemory {
        ByteBuffer bytes();

        @Override
        default int length() {
            return bytes().capacity();
        }
    }

    private record Memory(ByteBuffer bytes) implements Local {}

    private record Exposed(ByteBuffer bytes, long address, int remoteKey) implements Local, ExposedMemory {}

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
        exposed.add(memory);
        final int key = exposed.size() - 1;
        return new Exposed(memory, (long) key << Integer.SIZE, key);
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

    /** WRITEs that are done when they are posted; its READ only completes. */
    private final class Writes implements VerbsConnection.OneSidedPosting {
        private final ByteBuffer from;
        private final long id;
        private final int[] offsets;
        private final int[] byteCounts;
        private final long[] addresses;

        Writes(ByteBuffer from, int writes, long id) {
            this.from = from;
            this.id = id;
            this.offsets = new int[writes];
            this.byteCounts = new int[writes];
            this.addresses = new long[writes];
        }

        @Override
        public void write(int index, int offset, int length, long remoteAddress, int remoteKey) {
            offsets[index] = offset;
            byteCounts[index] = length;
            addresses[index] = remoteAddress;
        }

        @Override
        public void read(long remoteAddress, int remoteKey) {
            // What it reads does not matter.
        }

        @Override
        public void post() {
            for (int i = 0; i < offsets.length; i++) {
                final ByteBuffer to = exposed.get((int) (addresses[i] >>> Integer.SIZE));
                final int at = (int) addresses[i];
                if (byteCounts[i] == Long.BYTES) {
                    LONGS.setRelease(to, at, (long) LONGS.get(from, offsets[i]));
                } else {
                    to.put(at, from, offsets[i], byteCounts[i]);
                }
            }
            complete(id, 0);
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
            final ByteBuffer bytes = ((Local) memory).bytes();
            return length -> {
                final Receive receive = peer.receives.remove();
                receive.bytes.put(receive.offset, bytes, offset, length);
                complete(receive.id, length);
                complete(id, 0);
            };
        }

        @Override
        public ReceivePosting prepareReceive(RegisteredMemory memory, int offset, int length, long id) {
            return new Receive(this, ((Local) memory).bytes(), offset, id);
        }

        @Override
        public OneSidedPosting prepareOneSided(
                RegisteredMemory memory, int writes, RegisteredMemory target, int targetOffset, long id) {
            return new Writes(((Local) memory).bytes(), writes, id);
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
