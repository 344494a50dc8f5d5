package org.rowankv.driver.stream;

import java.util.concurrent.locks.ReentrantLock;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.driver.api.StreamPosition;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.wire.ChangesDescriptor.Section;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far a subscription has come in one shard. Takes only what continues exactly where it is: so whatever is asked twice, of two
 * servers or by two threads, is told once. Thread-safe.
 */
public final class ChangeCursor {
    private static final Logger LOG = LoggerFactory.getLogger(ChangeCursor.class);

    private final int cacheId;
    private final int shard;
    private final boolean oldValues;
    private final ChangeListener listener;
    private final Runnable whenLost;
    /** Held while the listener is called. */
    private final ReentrantLock telling = new ReentrantLock();

    private volatile long position;
    private volatile boolean begun;
    /** Its subscriber has been told that it hears from now on, and where that is was not known then. */
    private volatile boolean late;

    private volatile boolean closed;
    /** The server has said that it will not tell anything. */
    private volatile boolean refused;

    /** @param whenLost called before the listener is told of a loss */
    public ChangeCursor(
            int cacheId, int shard, boolean oldValues, long position, ChangeListener listener, Runnable whenLost) {
        this.cacheId = cacheId;
        this.shard = shard;
        this.oldValues = oldValues;
        this.position = position;
        this.listener = listener;
        this.whenLost = whenLost;
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

    /** Whether its server keeps what it is to tell, with old values if those are wanted. */
    public boolean isBegun() {
        return begun;
    }

    /** Its server has said what is now. */
    public void begin(Section section) {
        switch (section.status()) {
            case OK -> {
                accept(section); // unless it goes on from where another subscription was
                begun = true;
            }
            case UNKNOWN_CACHE -> {
                refuse(); // destroyed: nothing changes there any more
                begun = true;
            }
            default -> {} // another server, or this one later
        }
    }

    /** It is not known where it begins, and nobody waits for that any more. */
    public void beginLate() {
        late = true;
    }

    public boolean isOver() {
        return closed || refused;
    }

    private void refuse() {
        refused = true;
    }

    /** Takes an answer; whether there is no reason to ask elsewhere. */
    public boolean take(Section section) {
        switch (section.status()) {
            case OK -> accept(section);
            case UNKNOWN_CACHE -> refuse(); // destroyed: nothing changes there any more
            case BAD_REQUEST -> {
                refuse();
                LOG.warn(
                        "The changes of cache {} in shard {} cannot be told from {} on: there is no such place yet",
                        cacheId,
                        shard,
                        position);
            }
            default -> {
                return false; // another server, or this one later
            }
        }
        return true;
    }

    /** Tells what has come, if it continues what was told. */
    private void accept(Section section) {
        telling.lock();
        try {
            if (closed || section.from() != position) {
                return;
            }
            if (position == StreamPosition.NOTHING_YET && late) {
                lose(0, Math.max(section.lostTo(), section.to()));
            } else if (section.lostTo() != 0) {
                lose(Math.max(0, position), section.lostTo());
            }
            for (Change change : section.changes()) {
                if (closed) {
                    return; // by the listener
                }
                if (change.version() > position) {
                    position = change.version();
                    tell(change);
                }
            }
            position = Math.max(position, section.to());
        } finally {
            telling.unlock();
        }
    }

    private void lose(long after, long upTo) {
        position = upTo;
        whenLost.run();
        try {
            listener.onEventsLost(shard, after, upTo);
        } catch (RuntimeException | AssertionError e) {
            LOG.warn("a listener failed when it was told that changes of shard {} are lost", shard, e);
        }
    }

    private void tell(Change change) {
        try {
            listener.onChange(shard, change);
        } catch (RuntimeException | AssertionError e) {
            LOG.warn("a listener failed on a change of shard {}", shard, e);
        }
    }

    /** Nothing is told any more once this returns, unless the listener itself closes it. */
    public void close() {
        closed = true;
        telling.lock();
        try {
            refused = true; // nobody is in the middle of telling any more
        } finally {
            telling.unlock();
        }
    }
}
