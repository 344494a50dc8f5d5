package org.rowankv.driver.stream;

import java.util.concurrent.locks.ReentrantLock;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.driver.api.StreamPosition;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.wire.ChangesDescriptor.Section;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Position of a subscription in one shard. Accepts only sections that start exactly at its position, so it delivers
 * each change once, even if two servers or threads return it. Thread-safe.
 */
public final class ChangeCursor {
    private static final Logger LOG = LoggerFactory.getLogger(ChangeCursor.class);

    private final int cacheId;
    private final int shard;
    private final boolean oldValues;
    private final ChangeListener listener;
    private final Runnable onLost;
    /** Held while the listener is called. */
    private final ReentrantLock deliveryLock = new ReentrantLock();

    private volatile long position;
    private volatile boolean begun;
    /** The subscriber assumes that delivery starts now, but the position was unresolved. */
    private volatile boolean late;

    private volatile boolean closed;
    /** The server refuses this cursor for good. */
    private volatile boolean refused;

    /** @param onLost called before the listener receives a loss */
    public ChangeCursor(
            int cacheId, int shard, boolean oldValues, long position, ChangeListener listener, Runnable onLost) {
        this.cacheId = cacheId;
        this.shard = shard;
        this.oldValues = oldValues;
        this.position = position;
        this.listener = listener;
        this.onLost = onLost;
    }

    public int cacheId() {
        return cacheId;
    }

    public int shard() {
        return shard;
    }

    public boolean needsOldValues() {
        return oldValues;
    }

    public long position() {
        return position;
    }

    /** Whether its server retains changes from its position on, with old values if requested. */
    public boolean isBegun() {
        return begun;
    }

    /** Resolves the current position from its server's response. */
    public void begin(Section section) {
        switch (section.status()) {
            case OK -> {
                accept(section); // ignored unless at its position
                begun = true;
            }
            case UNKNOWN_CACHE -> {
                refuse(); // destroyed: no more changes
                begun = true;
            }
            default -> {} // retry at another server, or later
        }
    }

    /** Gives up resolving the position: the first section reports a loss. */
    public void beginLate() {
        late = true;
    }

    public boolean isOver() {
        return closed || refused;
    }

    private void refuse() {
        refused = true;
    }

    /** Accepts a response; false if the request must be repeated elsewhere. */
    public boolean take(Section section) {
        switch (section.status()) {
            case OK -> accept(section);
            case UNKNOWN_CACHE -> refuse(); // destroyed: no more changes
            case BAD_REQUEST -> {
                refuse();
                LOG.warn(
                        "ROWAN-1011 Change stream position not reached yet; stream ends cache={} shard={} position={}",
                        cacheId,
                        shard,
                        position);
            }
            default -> {
                return false; // retry at another server, or later
            }
        }
        return true;
    }

    /** Delivers the changes of a section that starts at the position. */
    private void accept(Section section) {
        deliveryLock.lock();
        try {
            if (closed || section.from() != position) {
                return;
            }
            if (position == StreamPosition.NOTHING_YET && late) {
                reportLoss(0, Math.max(section.lostTo(), section.to()));
            } else if (section.lostTo() != 0) {
                reportLoss(Math.max(0, position), section.lostTo());
            }
            for (Change change : section.changes()) {
                if (closed) {
                    return; // by the listener
                }
                if (change.version() > position) {
                    position = change.version();
                    deliver(change);
                }
            }
            position = Math.max(position, section.to());
        } finally {
            deliveryLock.unlock();
        }
    }

    private void reportLoss(long after, long upTo) {
        position = upTo;
        onLost.run();
        try {
            listener.onEventsLost(shard, after, upTo);
        } catch (RuntimeException | AssertionError e) {
            LOG.warn("ROWAN-1012 Change listener failed on a loss shard={}", shard, e);
        }
    }

    private void deliver(Change change) {
        try {
            listener.onChange(shard, change);
        } catch (RuntimeException | AssertionError e) {
            LOG.warn("ROWAN-1013 Change listener failed on a change shard={}", shard, e);
        }
    }

    /** After it returns nothing is delivered, unless the listener itself calls it. */
    public void close() {
        closed = true;
        deliveryLock.lock();
        try {
            refused = true; // no delivery is in progress
        } finally {
            deliveryLock.unlock();
        }
    }
}
