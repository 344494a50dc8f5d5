package org.rowankv.jcache.operation;

import javax.cache.Cache;

/** Entry of an iterator, with the version its value was read at. Immutable, except for its key and value. */
public record VersionedEntry<K, V>(K key, V value, long version) implements Cache.Entry<K, V> {
    @Override
    public K getKey() {
        return key;
    }

    @Override
    public V getValue() {
        return value;
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        throw new IllegalArgumentException("an entry of this cache is no " + type.getName());
    }
}
