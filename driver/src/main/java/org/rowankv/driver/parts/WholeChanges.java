package org.rowankv.driver.parts;

import org.rowankv.driver.api.ChangeListener;
import org.rowankv.protocol.Change;

/** Reads values in parts before a listener receives their changes. Thread-safe if the listener is. */
public final class WholeChanges implements ChangeListener {
    private final int cacheId;
    private final ChangeListener listener;
    private final PartedValues values;

    private WholeChanges(int cacheId, ChangeListener listener, PartedValues values) {
        this.cacheId = cacheId;
        this.listener = listener;
        this.values = values;
    }

    /** The listener itself if it reads no parts. */
    public static ChangeListener of(int cacheId, ChangeListener listener, PartedValues values) {
        return listener.readsParts() ? new WholeChanges(cacheId, listener, values) : listener;
    }

    @Override
    public void onChange(int shard, Change change) {
        final Change whole = change.inParts() ? values.whole(cacheId, shard, change) : change;
        if (whole == null) {
            listener.onEventsLost(shard, change.version() - 1, change.version());
        } else {
            listener.onChange(shard, whole);
        }
    }

    @Override
    public void onEventsLost(int shard, long after, long upTo) {
        listener.onEventsLost(shard, after, upTo);
    }
}
