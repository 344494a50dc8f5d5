package org.rowankv.jcache.integration;

import javax.cache.Cache;

/** An entry passed to the writer. Equal by key and value. */
public record WrittenEntry<K, V>(K key, V value) implements Cache.Entry<K, V> {
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
        throw new IllegalArgumentException("an entry for a writer is no " + type.getName());
    }
}
