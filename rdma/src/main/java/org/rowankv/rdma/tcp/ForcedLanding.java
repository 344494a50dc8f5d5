package org.rowankv.rdma.tcp;

import io.netty.channel.EventLoop;
import java.util.concurrent.TimeUnit;
import org.rowankv.rdma.LandingForce;

/**
 * Forces what has landed, in groups: while one force is under way, what lands meanwhile is collected for the next, of all
 * senders together. On the NIC agent's event loop, which looks from time to time whether the force has ended. When the
 * device has failed none ends any more, and nobody is told that his bytes are there.
 */
final class ForcedLanding {
    /** Small against a force by an ordinary file system, which takes milliseconds. */
    private static final long LOOK_EVERY_NS = 100_000;

    private final LandingForce force;
    private final EventLoop loop;
    private final TcpReceiveQueue queue;
    private final Runnable look = this::look;
    private long from;
    private long to;
    private boolean dirty;
    /** Of the force under way; 0 when there is none. */
    private long ticket;

    ForcedLanding(LandingForce force, EventLoop loop, TcpReceiveQueue queue) {
        this.force = force;
        this.loop = loop;
        this.queue = queue;
    }

    /** Bytes were written there; landings that follow each other become one range. */
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

    /** Begins to force what has landed, if anything has and no other force is under way. */
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
