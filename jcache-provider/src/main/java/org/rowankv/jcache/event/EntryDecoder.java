package org.rowankv.jcache.event;

/** Makes objects of one opening's class loader from an event's bytes; a new copy at every call. */
public interface EntryDecoder<K, V> {
    K key(byte[] bytes);

    V value(byte[] bytes);
}
