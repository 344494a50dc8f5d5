package org.rowankv.jcache.operation;

import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.RowanCache;

/**
 * A value and the version it was read at; valid for {@link RowanCache#replaceIfVersion} and {@link
 * RowanCache#removeIfVersion} until the value changes. The value is null if there was no entry.
 */
public record Versioned<V>(@Nullable V value, long version) {
    public boolean isPresent() {
        return value != null;
    }
}
