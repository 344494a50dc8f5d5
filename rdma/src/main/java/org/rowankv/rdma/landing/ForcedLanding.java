package org.rowankv.rdma.landing;

import io.netty.channel.EventLoop;
import java.util.concurrent.TimeUnit;
import org.rowankv.rdma.LandingForce;

/**
 * Group-commits forces of landed bytes: landings during a force are collected for the next one, for all senders. On the
 * NIC agent's event loop, which polls for the end of the force. After a device failure no force completes, and no
 * landing is acknowledged.
 */
final class ForcedLanding {
    /** Small against a force of an ordinary file system, which takes milliseconds. */
    private static final long LOOK_EVERY_NS = 100_000;

    private final LandingForce force;
    private final EventLoop loop;
    private final LandedQueue queue;
    private final Runnable look = this::look;
    private long from;
    private long to;
    private boolean dirty;
    /** Ticket of the force in progress; 0 if none. */
    private long ticket;

    ForcedLanding(LandingForce force, EventLoop loop, LandedQueue queue) {
        this.force = force;
        this.loop = loop;
        this.queue = queue;
    }

    /** Registers landed bytes; adjacent landings become one range. */
    void landed(long address, long length) {
        if (to != address) {
            flush();
            from = address;
        }
        to = address + length;
        dirty = true;
    }

    private void flush() {
        if (to > from) {
            force.flush(from, to - from);
        }
        from = to;
    }

    /** Starts a force if bytes have landed and none is in progress. */
    void drain() {
        if (dirty && ticket == 0) {
            flush();
            dirty = false;
            queue.connections().forEach(LandingConnection::forceBegins);
            ticket = force.request();
            look();
        }
    }

    private void look() {
        if (force.isForced(ticket)) {
            ticket = 0;
            queue.connections().forEach(LandingConnection::forceEnded);
            drain();
        } else if (!loop.isShuttingDown()) {
            final var unused = loop.schedule(look, LOOK_EVERY_NS, TimeUnit.NANOSECONDS);
        }
    }
}
