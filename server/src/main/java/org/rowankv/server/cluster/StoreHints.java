package org.rowankv.server.cluster;

import java.util.concurrent.atomic.AtomicBoolean;
import org.rowankv.server.configstore.ConfigurationCodec;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.membership.ClusterNodes;

/**
 * What may have changed in the configuration store since this server read it, so that it need not read everything after
 * every change. The configuration is read a little later: a member that has to act on it hears of it from its manager, and
 * reading it meanwhile would delay that; one that is excluded finds that out here. Any thread reports; the thread of the
 * {@link ClusterServer} takes each hint before it reads.
 */
final class StoreHints {
    private static final long DELAY_NS = 50_000_000;

    private final AtomicBoolean configuration = new AtomicBoolean();
    private final AtomicBoolean registrations = new AtomicBoolean();
    private final AtomicBoolean requests = new AtomicBoolean();
    /** When the configuration is to be read; without meaning if it has not changed. */
    private volatile long dueNs;

    /** A node has changed; returns whether a server reads it. */
    boolean changed(String path, long nowNs) {
        final boolean isAny = path.equals(ConfigurationStore.ANY_PATH);
        final boolean isConfiguration = isAny || path.equals(ConfigurationCodec.PATH);
        final boolean isRegistration = isAny || ClusterNodes.isRegistration(path);
        final boolean isRequest = isAny || ClusterNodes.isTransfer(path);
        if (isConfiguration && !configuration.get()) {
            dueNs = nowNs + DELAY_NS;
        }
        set(isConfiguration, isRegistration, isRequest);
        return isConfiguration || isRegistration || isRequest;
    }

    /** Everything may have changed, and is to be read now. */
    void all(long nowNs) {
        dueNs = nowNs;
        set(true, true, true);
    }

    private void set(boolean isConfiguration, boolean isRegistration, boolean isRequest) {
        if (isConfiguration) {
            configuration.set(true);
        }
        if (isRegistration) {
            registrations.set(true);
        }
        if (isRequest) {
            requests.set(true);
        }
    }

    /** How long until the configuration is to be read, at most that long. */
    long untilDueNs(long nowNs, long mostNs) {
        return configuration.get() ? Math.min(mostNs, Math.max(0, dueNs - nowNs)) : mostNs;
    }

    boolean takeConfiguration(long nowNs) {
        return nowNs - dueNs >= 0 && configuration.getAndSet(false);
    }

    boolean takeRegistrations() {
        return registrations.getAndSet(false);
    }

    boolean takeRequests() {
        return requests.getAndSet(false);
    }
}
