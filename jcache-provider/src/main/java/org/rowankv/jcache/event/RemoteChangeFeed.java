package org.rowankv.jcache.event;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
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
 * Feed of a cache's changes that operations of this JVM did not deliver: its change stream without the delivered
 * changes. Runs while there are listeners. Thread-safe.
 */
final class RemoteChangeFeed implements ChangeListener {
    private static final Logger LOG = LoggerFactory.getLogger(RemoteChangeFeed.class);

    private final RowanClient client;
    private final int cacheId;
    private final EventHub events;
    private final DeliveredChanges delivered;
    private final AtomicLong losses = new AtomicLong();
    /** Held while the servers answer. */
    private final ReentrantLock changing = new ReentrantLock();
    // --- guarded by changing ---
    private @Nullable ChangeSubscription stream;
    private boolean oldValues;

    private volatile boolean running;

    RemoteChangeFeed(RowanClient client, int cacheId, EventHub events, DeliveredChanges delivered) {
        this.client = client;
        this.cacheId = cacheId;
        this.events = events;
        this.delivered = delivered;
    }

    /** Starts the stream, before any event is delivered: it contains every later change. */
    void begin(boolean withOldValues) {
        changing.lock();
        try {
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
        } finally {
            changing.unlock();
        }
    }

    /** Stops the stream, when the last listener is removed. */
    void end() {
        changing.lock();
        try {
            running = false;
            final ChangeSubscription present = stream;
            if (present != null) {
                present.close();
            }
            stream = null;
            oldValues = false;
            delivered.clear();
        } finally {
            changing.unlock();
        }
    }

    /** Records the events that an operation of this JVM delivers; called before the next operation on that key. */
    void recordDelivered(Request request, @Nullable Notification expiry, @Nullable Notification change) {
        if (!running) {
            return;
        }
        if (change != null) {
            delivered.change(request.shard(), change.version());
        }
        if (expiry != null) {
            // A change's version bounds the version of the expiry before it; otherwise there is no bound.
            delivered.expiry(request.shard(), expiry.key(), change != null ? change.version() : Long.MAX_VALUE);
        }
    }

    @Override
    public void onChange(int shard, Change change) {
        if (change.type() != ChangeType.EVICTED) { // the JSR has no eviction events
            events.deliverFromStream(shard, change, () -> isDelivered(shard, change));
        }
    }

    /** Most such changes are this JVM's own, and few listeners ask for the value: it is read when one does. */
    @Override
    public boolean readsParts() {
        return false;
    }

    private boolean isDelivered(int shard, Change change) {
        final DeliveredChanges.Verdict verdict = delivered.classify(shard, change);
        if (verdict == DeliveredChanges.Verdict.UNKNOWN) {
            onEventsLost(shard, 0, change.version());
        }
        return verdict != DeliveredChanges.Verdict.NEW;
    }

    @Override
    public void onEventsLost(int shard, long after, long upTo) {
        delivered.lost(shard, upTo);
        if (losses.getAndIncrement() == 0) {
            LOG.warn(
                    "ROWAN-1109 Listeners may have missed changes of other JVMs; further losses are only counted"
                            + " cacheId={}",
                    cacheId);
        }
        events.reportLoss();
    }
}
