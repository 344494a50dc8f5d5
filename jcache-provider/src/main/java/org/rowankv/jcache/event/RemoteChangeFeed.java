package org.rowankv.jcache.event;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.driver.api.ChangeSubscription;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.ChangeType;
import org.rowankv.protocol.Request;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The changes of a cache that are not made by this JVM's operations, or of which those did not learn: what its change stream brings,
 * without what was told already. Runs while there is a listener. Thread-safe.
 */
final class RemoteChangeFeed implements ChangeListener {
    private static final Logger LOG = LoggerFactory.getLogger(RemoteChangeFeed.class);

    private final RowanClient client;
    private final int cacheId;
    private final EventHub events;
    private final DeliveredChanges told;
    private final AtomicLong losses = new AtomicLong();
    // --- guarded by this ---
    private @Nullable ChangeSubscription stream;
    private boolean oldValues;

    private volatile boolean running;

    RemoteChangeFeed(RowanClient client, int cacheId, EventHub events, DeliveredChanges told) {
        this.client = client;
        this.cacheId = cacheId;
        this.events = events;
        this.told = told;
    }

    /** Before anybody is told of anything: from now on whatever is committed is in the stream. */
    synchronized void begin(boolean withOldValues) {
        final ChangeSubscription present = stream;
        if (present != null && (oldValues || !withOldValues)) {
            return;
        }
        oldValues |= withOldValues;
        running = true;
        if (present == null) {
            stream = client.subscribe(cacheId, oldValues, null, this);
        } else {
            present.close();
            stream = client.subscribe(cacheId, oldValues, present.position(), this);
        }
    }

    /** Nobody listens any more. */
    synchronized void end() {
        running = false;
        final ChangeSubscription present = stream;
        if (present != null) {
            present.close();
        }
        stream = null;
        oldValues = false;
        told.clear();
    }

    /** An operation of this JVM tells of what it did; before another one on that key can begin. */
    void tells(Request request, @Nullable Notification expiry, @Nullable Notification change) {
        if (!running) {
            return;
        }
        if (change != null) {
            told.change(request.shard(), change.version());
        }
        if (expiry != null) {
            // Of some outcomes the version says that whatever was met is older; of the others it says nothing.
            told.expiry(request.shard(), expiry.key(), change != null ? change.version() : Long.MAX_VALUE);
        }
    }

    @Override
    public void onChange(int shard, Change change) {
        if (change.type() != ChangeType.EVICTED) { // the cache API tells nobody of evictions
            events.deliverFromStream(change, () -> isTold(shard, change));
        }
    }

    private boolean isTold(int shard, Change change) {
        final DeliveredChanges.Verdict verdict = told.look(shard, change);
        if (verdict == DeliveredChanges.Verdict.UNKNOWN) {
            onEventsLost(shard, 0, change.version());
        }
        return verdict != DeliveredChanges.Verdict.NEW;
    }

    @Override
    public void onEventsLost(int shard, long after, long upTo) {
        told.lost(shard, upTo);
        if (losses.getAndIncrement() == 0) {
            LOG.warn(
                    "Listeners of the cache with id {} may have missed changes of other JVMs; further times are counted only",
                    cacheId);
        }
        events.reportLoss();
    }
}
