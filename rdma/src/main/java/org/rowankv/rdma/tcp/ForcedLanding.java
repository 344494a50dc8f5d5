package org.rowankv.rdma.tcp;

import io.netty.channel.EventLoop;
import org.rowankv.rdma.tcp.LandingForce.ForceCompletion;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forces what has landed, in groups: while one drain runs, what lands meanwhile is collected for the next, of all senders
 * together. On the NIC agent's event loop, except the completion.
 */
final class ForcedLanding implements ForceCompletion {
    private static final Logger LOG = LoggerFactory.getLogger(ForcedLanding.class);

    private final LandingForce force;
    private final EventLoop loop;
    private final TcpReceiveQueue queue;
    private final Runnable ended = this::ended;
    private long from;
    private long to;
    private boolean dirty;
    private boolean draining;

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

    /** Begins to force what has landed, if anything has and no other drain runs. */
    void drain() {
        if (!dirty || draining) {
            return;
        }
        flush();
        dirty = false;
        draining = true;
        queue.connections().forEach(LandingConnection::forceBegins);
        force.drain(this);
    }

    @Override
    public void forced() {
        loop.execute(ended);
    }

    private void ended() {
        draining = false;
        queue.connections().forEach(LandingConnection::forceEnded);
        drain();
    }

    @Override
    public void failed(Throwable cause) {
        LOG.error("What has landed could not be forced to the device: every sender is cut off", cause);
        queue.fenceAll();
        loop.execute(() -> draining = false);
    }
}
