package org.rowankv.driver.net;

import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.wire.FrameEncoder;
import org.rowankv.protocol.wire.RequestDescriptor;

/** Queue of a connection's requests to write: the first thread that finds the channel free writes all. Thread-safe. */
final class RequestWriter {
    private static final int FIRST_OUTPUT = 16 << 10;

    private final NetConnection connection;
    private final SocketChannel channel;
    private final Selector selector;
    private final SelectionKey key;
    private final AtomicReference<@Nullable InFlightRequest> queue = new AtomicReference<>();
    private final AtomicBoolean writing = new AtomicBoolean();
    private final FrameEncoder out = new FrameEncoder(FIRST_OUTPUT);
    /** Bytes that the socket did not accept remain; the reader writes them. */
    private volatile boolean unwritten;

    RequestWriter(NetConnection connection, SocketChannel channel, Selector selector, SelectionKey key) {
        this.connection = connection;
        this.channel = channel;
        this.selector = selector;
        this.key = key;
    }

    /** Queues a prepared request; {@link #flush} sends it. */
    void enqueue(InFlightRequest inFlight) {
        inFlight.state(InFlightRequest.QUEUED);
        InFlightRequest head;
        do {
            head = queue.get();
            inFlight.next(head);
        } while (!queue.compareAndSet(head, inFlight));
    }

    /** Sends the queue, unless another thread is writing, which then sends it. */
    void flush() {
        while ((queue.get() != null || unwritten) && writing.compareAndSet(false, true)) {
            boolean stuck = false;
            try {
                writeQueued();
                stuck = unwritten;
            } catch (IOException | CancelledKeyException e) {
                connection.fail(e);
            } catch (RuntimeException | Error e) {
                connection.fail(e);
                throw e;
            } finally {
                writing.set(false);
            }
            if (stuck && !connection.isBroken()) {
                return;
            }
        }
    }

    private void writeQueued() throws IOException {
        InFlightRequest each = InFlightRequest.oldestFirst(queue.getAndSet(null));
        while (each != null) {
            final InFlightRequest following = each.next();
            each.next(null);
            if (each.changes(InFlightRequest.QUEUED, InFlightRequest.WRITING)) {
                writeFrame(each);
            } else if (each.state() == InFlightRequest.CANCELLED) {
                connection.release(each);
            }
            each = following;
        }
        if (connection.isBroken() || out.pending() == 0) {
            return;
        }
        final boolean all = out.writeTo(channel);
        if (all && unwritten) {
            unwritten = false;
            key.interestOps(SelectionKey.OP_READ);
        } else if (!all && !unwritten) {
            unwritten = true;
            key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            selector.wakeup();
        }
    }

    private void writeFrame(InFlightRequest inFlight) {
        boolean written = false;
        try {
            final Request request = inFlight.request();
            final ControlRequest controlRequest = inFlight.controlRequest();
            if (!connection.isBroken() && request != null) {
                RequestDescriptor.write(out, request, inFlight.number(), inFlight.term());
                written = true;
            } else if (!connection.isBroken() && controlRequest != null) {
                controlRequest.write(out, inFlight.number());
                written = true;
            }
        } finally {
            if (written) {
                inFlight.state(InFlightRequest.SENT);
            } else {
                connection.ended(inFlight, InFlightRequest.Outcome.UNSENT);
            }
        }
    }

    /** Writes what the socket did not accept before; returns whether it did. */
    boolean flushUnwritten() {
        if (!unwritten) {
            return false;
        }
        connection.flush();
        return !unwritten;
    }
}
