package org.rowankv.jcache.operation;

import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.RowanCache;

/**
 * A value with the version it was read at; good for {@link RowanCache#replaceIfVersion} and
 * {@link RowanCache#removeIfVersion} until the value changes. When there was no entry the value is null.
 */
public record Versioned<V>(@Nullable V value, long version) {
    public boolean isPresent() {
        return value != null;
    }
}
