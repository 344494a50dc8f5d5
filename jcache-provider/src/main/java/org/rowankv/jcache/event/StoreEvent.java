package org.rowankv.jcache.event;

import javax.cache.Cache;
import javax.cache.event.CacheEntryEvent;
import javax.cache.event.CacheEntryListenerException;
import javax.cache.event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * Event for one listener, with its own copies of key and values, decoded on demand. Confined to the listener's thread.
 */
public final class StoreEvent<K, V> extends CacheEntryEvent<K, V> {
    private static final long serialVersionUID = 1L;

    private final transient Notification notification;
    private final transient EntryDecoder<K, V> decoder;
    private final boolean oldValueVisible;
    private transient @Nullable K key;
    private transient @Nullable V value;
    private transient @Nullable V oldValue;

    StoreEvent(Cache<K, V> source, Notification notification, EntryDecoder<K, V> decoder, boolean needsOldValue) {
        super(source, notification.type());
        this.notification = notification;
        this.decoder = decoder;
        this.oldValueVisible = needsOldValue && notification.oldValue() != null;
    }

    @Override
    public K getKey() {
        K present = key;
        if (present == null) {
            present = decoder.key(notification.key());
            key = present;
        }
        return present;
    }

    /**
     * The new value; after a removal or expiry the old one, if requested.
     *
     * @throws CacheEntryListenerException if another JVM stored it in parts, and it was replaced since
     */
    @Override
    @SuppressWarnings("NullAway") // the JSR returns null, its signature does not allow it
    public V getValue() {
        final byte[] bytes = notification.value();
        if (bytes == null) {
            return getOldValue();
        }
        V present = value;
        if (present == null) {
            present = notification.isInParts() ? readParts(bytes) : decoder.value(bytes);
            value = present;
        }
        return present;
    }

    private V readParts(byte[] list) {
        final V whole = decoder.valueInParts(notification.shard(), list);
        if (whole == null) {
            throw new CacheEntryListenerException("the value of this event is not available: it was stored in parts by"
                    + " another JVM, and replaced before a listener asked for it");
        }
        return whole;
    }

    @Override
    @SuppressWarnings("NullAway") // the JSR returns null, its signature does not allow it
    public V getOldValue() {
        final byte[] bytes = notification.oldValue();
        if (!oldValueVisible || bytes == null) {
            return null;
        }
        V present = oldValue;
        if (present == null) {
            present = decoder.value(bytes);
            oldValue = present;
        }
        return present;
    }

    @Override
    public boolean isOldValueAvailable() {
        return oldValueVisible;
    }

    /** The change's version in the store; it grows with each event of a key. */
    public long version() {
        return notification.version();
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        throw new IllegalArgumentException("an event is no " + type.getName());
    }

    /** The event type, for messages. */
    EventType type() {
        return notification.type();
    }
}
