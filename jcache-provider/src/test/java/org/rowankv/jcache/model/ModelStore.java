package org.rowankv.jcache.model;

import org.rowankv.driver.ModelSession;
import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.store.Store;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SplittableRandomSource;

/** Store over the model session. */
public final class ModelStore implements Store {
    private final Clock clock;
    private final ModelSession session;
    private final RowanClient client;
    private volatile boolean closed;

    public ModelStore(Clock clock) {
        this.clock = clock;
        this.session = new ModelSession(clock);
        this.client = new RowanClient(session, clock, new SplittableRandomSource(7));
    }

    public ModelSession session() {
        return session;
    }

    @Override
    public RowanClient client() {
        return client;
    }

    @Override
    public String durability() {
        return "a model: nothing survives";
    }

    @Override
    public Clock clock() {
        return clock;
    }

    public boolean isClosed() {
        return closed;
    }

    @Override
    public <T> @org.jspecify.annotations.Nullable T unwrap(Class<T> type) {
        return null;
    }

    @Override
    public void close() {
        client.close();
        session.close();
        closed = true;
    }
}
