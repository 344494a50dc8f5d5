package org.rowankv.jcache.model;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SystemClock;

/** Provider over model stores: fast, and with a clock that a test can advance. */
public final class ModelCachingProvider extends RowanCachingProvider {
    private final List<ModelStore> opened;

    public ModelCachingProvider() {
        this(SystemClock.INSTANCE);
    }

    public ModelCachingProvider(Clock clock) {
        this(clock, new CopyOnWriteArrayList<>());
    }

    private ModelCachingProvider(Clock clock, List<ModelStore> opened) {
        super(settings -> {
            final ModelStore store = new ModelStore(clock);
            opened.add(store);
            return store;
        });
        this.opened = opened;
    }

    /** The stores opened so far, oldest first. */
    public List<ModelStore> opened() {
        return opened;
    }
}
