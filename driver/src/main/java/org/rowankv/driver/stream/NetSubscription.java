package org.rowankv.driver.stream;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.driver.api.ChangeSubscription;
import org.rowankv.driver.api.StreamPosition;

/** A subscription: one cursor per shard. Thread-safe. */
public final class NetSubscription implements ChangeSubscription {
    private final List<ChangeCursor> cursors = new ArrayList<>();
    private final AtomicLong lossCount = new AtomicLong();
    private final Consumer<NetSubscription> whenClosed;

    public NetSubscription(
            int cacheId,
            int shardCount,
            boolean oldValues,
            @Nullable StreamPosition from,
            ChangeListener listener,
            Consumer<NetSubscription> whenClosed) {
        this.whenClosed = whenClosed;
        for (int shard = 0; shard < shardCount; shard++) {
            cursors.add(new ChangeCursor(
                    cacheId,
                    shard,
                    oldValues,
                    from == null ? StreamPosition.NOTHING_YET : from.version(shard),
                    listener,
                    lossCount::incrementAndGet));
        }
    }

    /** By shard. */
    public List<ChangeCursor> cursors() {
        return Collections.unmodifiableList(cursors);
    }

    @Override
    public StreamPosition position() {
        return StreamPosition.of(
                cursors.stream().mapToLong(ChangeCursor::position).toArray());
    }

    @Override
    public long timesLost() {
        return lossCount.get();
    }

    @Override
    public void close() {
        cursors.forEach(ChangeCursor::close);
        whenClosed.accept(this);
    }
}
