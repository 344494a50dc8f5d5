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
 * A worker's I/O with that of its queue pairs on the TCP fabric: an event loop of Netty that the owner turns, whose channels
 * are watched by the same selector as the owner's sockets.
 *
 * <p>Whoever is not the owner may use queue pairs that are at home here, one at a time as ever; what they write is then
 * done by the owner, who is woken up for it.
 */
public final class TcpIoPoller implements IoPoller {
    private static final Logger LOG = LoggerFactory.getLogger(TcpIoPoller.class);
    /** By what a channel is ready for. */
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

    /** @throws java.io.UncheckedIOException as when descriptors are exhausted */
    public TcpIoPoller() {
        this.sockets = new SelectorPoller();
        this.loop = new ManualIoEventLoop(null, unused -> new Handler());
    }

    @Override
    public Thread newThread(String name, Runnable body) {
        // Netty keeps what it uses again by thread, and looks for it faster in one of its own kind.
        final Thread thread = new FastThreadLocalThread(
                () -> {
                    own();
                    body.run();
                },
                name);
        thread.setDaemon(true);
        return thread;
    }

    /** The calling thread is the owner from now on. */
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
    public int turn() {
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
     * Hands over the event loop to connect something on it, unless that has ended. What is begun is ended by {@link #close}
     * at the latest: Netty by itself may forget what is handed to an event loop that ends.
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

    /** How Netty's event loop comes to its events. Called by the owner, except for waking it up. */
    private final class Handler implements IoHandler {
        @Override
        public int run(IoHandlerContext context) {
            if (context.canBlock()) {
                // Until the next timer at most.
                final long delayNs = context.delayNanos(SystemClock.INSTANCE.nanoTime());
                if (delayNs > 0) {
                    return sockets.await(delayNs);
                }
            }
            return sockets.turn();
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
            // Again: what was registered since by what had been handed over is to be closed too.
            prepareToDestroy();
            sockets.close();
        }
    }

    /** A channel of Netty among those that are watched. The owner's. */
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
                LOG.error("The I/O of a queue pair failed: it ends", e);
                close();
            }
        }

        private IoEvent event() {
            return EVENTS[key.readyOps()];
        }

        @Override
        @SuppressWarnings("unchecked") // as those who ask know
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
                LOG.debug("A channel did not close well", e);
            }
        }
    }
}
