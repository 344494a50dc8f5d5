package org.rowankv.driver.api;

import org.jspecify.annotations.Nullable;

/**
 * A value that was read, decoded and kept, with what proves it current. Immutable if the value is; thread-safe.
 *
 * <p>Guarantees: {@link #ifCurrent} is a linearizable read of the key. It returns what a read of the store would, or
 * null. It takes no lock, allocates nothing, and does not count as an access that extends a lifetime.
 */
public interface ValidatedValue<V> {
    /** The value, if a read of the store now would return it. Null says nothing: the caller must read the store. */
    @Nullable
    V ifCurrent();

    /** The value, if it is that of the object of this version; else null. Says nothing about its being current. */
    @Nullable
    V ofVersion(long version);

    /** The version of the object. */
    long objectVersion();

    /** Bytes of heap, as given to {@link Session#validated}. */
    int bytes();
}
