package org.rowankv.jcache.event;

import javax.cache.Cache;
import javax.cache.event.CacheEntryEvent;
import javax.cache.event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * One event for one listener, with copies of key and values of its own, made when first asked for. For the thread that
 * the listener is called on.
 */
public final class StoreEvent<K, V> extends CacheEntryEvent<K, V> {
    private static final long serialVersionUID = 1L;

    private final transient Notification notification;
    private final transient EntryDecoder<K, V> decoder;
    private final boolean oldValueVisible;
    private transient @Nullable K key;
    private transient @Nullable V value;
    private transient @Nullable V oldValue;

    StoreEvent(Cache<K, V> source, Notification notification, EntryDecoder<K, V> decoder, boolean wantsOldValue) {
        super(source, notification.type());
        this.notification = notification;
        this.decoder = decoder;
        this.oldValueVisible = wantsOldValue && notification.oldValue() != null;
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

    /** The value that is there now; after a removal or expiry the one that was there, if old values were asked for. */
    @Override
    @SuppressWarnings("NullAway") // the JSR's signature has no room for its own null
    public V getValue() {
        final byte[] bytes = notification.value();
        if (bytes == null) {
            return getOldValue();
        }
        V present = value;
        if (present == null) {
            present = decoder.value(bytes);
            value = present;
        }
        return present;
    }

    @Override
    @SuppressWarnings("NullAway") // the JSR's signature has no room for its own null
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

    /** The version that the change got in the store: of two events of one key the later has the higher. */
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

    /** The kind of event, for messages. */
    EventType type() {
        return notification.type();
    }
}
