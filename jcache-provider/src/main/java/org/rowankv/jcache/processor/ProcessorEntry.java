package org.rowankv.jcache.processor;

import java.util.Objects;
import java.util.function.Function;
import javax.cache.processor.MutableEntry;
import org.jspecify.annotations.Nullable;

/** Private copy of an entry for one run of a processor; records its actions. Used by one thread. */
public final class ProcessorEntry<K, V> implements MutableEntry<K, V> {
    private final K key;
    private final boolean existed;
    private final Function<K, @Nullable V> loader;
    private final Class<?> valueType;
    private @Nullable V value;
    private boolean removed;
    private Action action = Action.NONE;

    /**
     * @param value present value, or null
     * @param loader called at most once, for an absent entry; returns null if there is nothing to load
     * @param valueType required type of new values
     */
    public ProcessorEntry(K key, @Nullable V value, Function<K, @Nullable V> loader, Class<?> valueType) {
        this.key = key;
        this.value = value;
        this.existed = value != null;
        this.loader = loader;
        this.valueType = valueType;
    }

    @Override
    public K getKey() {
        return key;
    }

    @Override
    public boolean exists() {
        return value != null;
    }

    @Override
    public @Nullable V getValue() {
        if (action == Action.NONE && !removed) {
            if (value != null) {
                action = Action.READ;
            } else {
                value = loader.apply(key);
                if (value != null) {
                    action = Action.LOADED;
                }
            }
        }
        return value;
    }

    @Override
    public void setValue(V newValue) {
        Objects.requireNonNull(newValue, "value");
        if (!valueType.isInstance(newValue)) {
            throw new ClassCastException("a value of this cache is a " + valueType.getName() + ", not a "
                    + newValue.getClass().getName());
        }
        value = newValue;
        removed = false;
        action = existed ? Action.UPDATED : Action.CREATED;
    }

    @Override
    public void remove() {
        final boolean neverThere = action == Action.CREATED || action == Action.LOADED;
        action = neverThere ? Action.NONE : Action.DELETED;
        value = null;
        removed = true;
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        throw new IllegalArgumentException("a processor's entry is no " + type.getName());
    }

    /** Whether the cache contained the entry when the processor started. */
    public boolean existed() {
        return existed;
    }

    /** The final value. */
    public @Nullable V value() {
        return value;
    }

    public Action action() {
        return action;
    }
}
