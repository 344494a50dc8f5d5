package org.rowankv.jcache.event;

import org.jspecify.annotations.Nullable;

/** Decoder of an event's bytes to objects of one cache's class loader; each call returns a new copy. */
public interface EntryDecoder<K, V> {
    K key(byte[] bytes);

    V value(byte[] bytes);

    /**
     * Reads and decodes a value from its parts.
     *
     * @param shard of the key
     * @param list of the parts
     * @return null if they are gone, because the value was replaced
     */
    @Nullable
    V valueInParts(int shard, byte[] list);
}
