package org.rowankv.jcache.processor;

import javax.cache.processor.EntryProcessorException;
import javax.cache.processor.EntryProcessorResult;
import org.jspecify.annotations.Nullable;

/** Result of {@code invokeAll} for one key: the returned value or the exception. Immutable. */
public final class ProcessorResult<T> implements EntryProcessorResult<T> {
    private final @Nullable T value;
    private final @Nullable EntryProcessorException failure;

    private ProcessorResult(@Nullable T value, @Nullable EntryProcessorException failure) {
        this.value = value;
        this.failure = failure;
    }

    public static <T> ProcessorResult<T> of(T value) {
        return new ProcessorResult<>(value, null);
    }

    public static <T> ProcessorResult<T> failed(EntryProcessorException failure) {
        return new ProcessorResult<>(null, failure);
    }

    @Override
    @SuppressWarnings("NullAway") // null only with a failure, which is thrown
    public T get() {
        if (failure != null) {
            throw failure;
        }
        return value;
    }
}
