package org.rowankv.rdma.verbs;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * A device whose completions become visible between a poll of them and the next poll of events: an event is always
 * found before the completions that preceded it, as may happen on every device. For one thread.
 */
public final class LateWork implements Verbs {
    private final Verbs device;
    private final ArrayDeque<Completion> late = new ArrayDeque<>();
    private boolean visible;

    private record Completion(long id, int status, int length) {}

    public LateWork(Verbs device) {
        this.device = device;
    }

    @Override
    public int pollWork(WorkHandler handler) throws VerbsException {
        device.pollWork((id, status, length) -> late.add(new Completion(id, status, length)));
        if (!visible) {
            return 0;
        }
        visible = false;
        final int count = late.size();
        for (int i = 0; i < count; i++) {
            final Completion each = late.remove();
            handler.onWork(each.id, each.status, each.length);
        }
        return count;
    }

    @Override
    public int pollEvents(ConnectionEventHandler handler) throws VerbsException {
        visible = true;
        return device.pollEvents(handler);
    }

    @Override
    public InetSocketAddress listen(InetSocketAddress address, int backlog, int completions) throws VerbsException {
        return device.listen(address, backlog, completions);
    }

    @Override
    public RegisteredMemory register(ByteBuffer memory) throws VerbsException {
        return device.register(memory);
    }

    @Override
    public ExposedMemory expose(ByteBuffer memory) throws VerbsException {
        return device.expose(memory);
    }

    @Override
    public VerbsConnection connect(InetSocketAddress remote, int timeoutMs) throws VerbsException {
        return device.connect(remote, timeoutMs);
    }

    @Override
    public void close() {
        device.close();
    }
}
