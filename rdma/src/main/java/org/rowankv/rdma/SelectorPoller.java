package org.rowankv.rdma;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.function.Consumer;
import org.rowankv.runtime.concurrent.DetachedThread;

/** Poller of sockets with one selector, for fabrics whose queue pairs do no I/O. Allocates nothing per poll. */
public final class SelectorPoller implements IoPoller {
    private static final long NS_PER_MS = 1_000_000;

    private final Selector selector;
    private final Consumer<SelectionKey> onReady = SelectorPoller::onReady;
    /** Set before the owner's last check of {@link #woken}. */
    private volatile boolean asleep;

    private volatile boolean woken;

    private record Watch(Consumer<SelectionKey> whenReady) {}

    /** @throws UncheckedIOException for example, if descriptors are exhausted */
    public SelectorPoller() {
        try {
            this.selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException("opening a selector", e);
        }
    }

    @Override
    public Thread newThread(String name, Runnable body) {
        return DetachedThread.of(body, name);
    }

    @Override
    public SelectionKey watch(SelectableChannel channel, int ops, Consumer<SelectionKey> whenReady)
            throws ClosedChannelException {
        return channel.register(selector, ops, new Watch(whenReady));
    }

    private static void onReady(SelectionKey key) {
        if (key.isValid()) {
            ((Watch) key.attachment()).whenReady.accept(key);
        }
    }

    @Override
    public int poll() {
        // First: the subject of a later wake-up may be missed by this poll.
        if (woken) {
            woken = false;
        }
        try {
            return selector.selectNow(onReady);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public int await(long timeoutNs) {
        asleep = true;
        try {
            // A later wake-up finds that the owner sleeps.
            return woken ? selector.selectNow(onReady) : selector.select(onReady, timeoutMs(timeoutNs));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            asleep = false;
        }
    }

    /** The selector's timeout; 0 means none. */
    private static long timeoutMs(long timeoutNs) {
        return timeoutNs == Long.MAX_VALUE ? 0 : (timeoutNs - 1) / NS_PER_MS + 1;
    }

    @Override
    public void wakeUp() {
        // Once: the first caller wakes the owner, which checks the subjects of all.
        if (!woken) {
            woken = true;
            if (asleep) {
                selector.wakeup();
            }
        }
    }

    @Override
    public boolean carriesPairs() {
        return false;
    }

    @Override
    public void close() {
        try {
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException("closing a selector", e);
        }
    }
}
