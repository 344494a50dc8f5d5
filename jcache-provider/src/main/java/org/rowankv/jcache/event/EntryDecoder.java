package org.rowankv.jcache.event;

/** Decoder of an event's bytes to objects of one cache's class loader; each call returns a new copy. */
public interface EntryDecoder<K, V> {
    K key(byte[] bytes);

    V value(byte[] bytes);
}
