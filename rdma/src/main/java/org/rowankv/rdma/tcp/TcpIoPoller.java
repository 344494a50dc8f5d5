package org.rowankv.rdma.tcp;

import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.nio.NioIoEvent;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoOps;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.rowankv.rdma.IoPoller;
import org.rowankv.rdma.SelectorPoller;
import org.rowankv.runtime.SystemClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Poller of a worker's I/O, including its queue pairs on the TCP fabric: a Netty event loop driven by the owner, whose
 * channels share one selector with the owner's sockets.
 *
 * <p>Other threads may use its queue pairs, one at a time; the owner performs their writes, and is woken up for them.
 */
public final class TcpIoPoller implements IoPoller {
    private static final Logger LOG = LoggerFactory.getLogger(TcpIoPoller.class);
    /** By the readiness of a channel. */
    private static final NioIoEvent[] EVENTS = new NioIoEvent[1 << 5];

    static {
        for (int ready = 0; ready < EVENTS.length; ready++) {
            final NioIoOps ops = NioIoOps.valueOf(ready);
            EVENTS[ready] = () -> ops;
        }
    }

    private final SelectorPoller sockets;
    private final ManualIoEventLoop loop;
    /** Owner only. */
    private final Set<Registration> registrations = new LinkedHashSet<>();
    /** Guarded by this. */
    private boolean owned;
    /** Guarded by this. */
    private boolean closed;

    /** @throws java.io.UncheckedIOException for example, if descriptors are exhausted */
    public TcpIoPoller() {
        this.sockets = new SelectorPoller();
        this.loop = new ManualIoEventLoop(null, unused -> new Handler());
    }

    @Override
    public Thread newThread(String name, Runnable body) {
        // Netty pools by thread, with faster access on its own thread class.
        final Thread thread = new FastThreadLocalThread(
                () -> {
                    own();
                    body.run();
                },
                name);
        thread.setDaemon(true);
        return thread;
    }

    /** Makes the calling thread the owner. */
    synchronized void own() {
        owned = true;
        loop.setOwningThread(Thread.currentThread());
    }

    @Override
    public SelectionKey watch(SelectableChannel channel, int ops, Consumer<SelectionKey> whenReady)
            throws ClosedChannelException {
        return sockets.watch(channel, ops, whenReady);
    }

    @Override
    public int poll() {
        return loop.runNow();
    }

    @Override
    public int await(long timeoutNs) {
        return loop.run(timeoutNs);
    }

    @Override
    public void wakeUp() {
        sockets.wakeUp();
    }

    @Override
    public boolean carriesPairs() {
        return !registrations.isEmpty();
    }

    /**
     * Passes the event loop to a connecting caller, unless it has ended. {@link #close} ends everything started on it:
     * Netty alone may drop tasks submitted to an ending event loop.
     */
    synchronized boolean whileOpen(Consumer<EventLoop> connecting) {
        if (closed) {
            return false;
        }
        connecting.accept(loop);
        return true;
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            if (!owned) {
                own();
            }
            closed = true;
        }
        final var unused = loop.shutdownGracefully(0, 0, TimeUnit.NANOSECONDS);
        while (!loop.isTerminated()) {
            loop.runNow();
        }
    }

    /** Netty's access to its events. Called by the owner, except for wake-ups. */
    private final class Handler implements IoHandler {
        @Override
        public int run(IoHandlerContext context) {
            if (context.canBlock()) {
                // At most until the next timer.
                final long delayNs = context.delayNanos(SystemClock.INSTANCE.nanoTime());
                if (delayNs > 0) {
                    return sockets.await(delayNs);
                }
            }
            return sockets.poll();
        }

        @Override
        public IoRegistration register(IoHandle handle) throws ClosedChannelException {
            final Registration registration = new Registration((NioIoHandle) handle);
            registrations.add(registration);
            handle.registered();
            return registration;
        }

        @Override
        public void wakeup() {
            sockets.wakeUp();
        }

        @Override
        public boolean isCompatible(Class<? extends IoHandle> handleType) {
            return NioIoHandle.class.isAssignableFrom(handleType);
        }

        @Override
        public void prepareToDestroy() {
            List.copyOf(registrations).forEach(Registration::close);
        }

        @Override
        public void destroy() {
            // Again: closes channels registered by previously submitted tasks.
            prepareToDestroy();
            sockets.close();
        }
    }

    /** A watched channel of Netty. Owner only. */
    private final class Registration implements IoRegistration, Consumer<SelectionKey> {
        private final NioIoHandle handle;
        private final SelectionKey key;
        private boolean cancelled;

        Registration(NioIoHandle handle) throws ClosedChannelException {
            this.handle = handle;
            this.key = sockets.watch(handle.selectableChannel(), 0, this);
        }

        @Override
        public void accept(SelectionKey ready) {
            try {
                handle.handle(this, event());
            } catch (RuntimeException | Error e) {
                LOG.error("ROWAN-3006 The I/O of a queue pair failed: it ends", e);
                close();
            }
        }

        private IoEvent event() {
            return EVENTS[key.readyOps()];
        }

        @Override
        @SuppressWarnings("unchecked") // the callers pass matching types
        public <T> T attachment() {
            return (T) key;
        }

        @Override
        public long submit(IoOps ops) {
            if (!isValid()) {
                return -1;
            }
            final int value = ((NioIoOps) ops).value();
            key.interestOps(value);
            return value;
        }

        @Override
        public boolean isValid() {
            return !cancelled && key.isValid();
        }

        @Override
        public boolean cancel() {
            if (cancelled) {
                return false;
            }
            cancelled = true;
            key.cancel();
            registrations.remove(this);
            handle.unregistered();
            return true;
        }

        private void close() {
            cancel();
            try {
                handle.close();
            } catch (Exception e) {
                LOG.debug("Closing a channel failed", e);
            }
        }
    }
}
