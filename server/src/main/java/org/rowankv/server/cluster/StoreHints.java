package org.rowankv.server.cluster;

import java.util.concurrent.atomic.AtomicBoolean;
import org.rowankv.server.configstore.ConfigurationCodec;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.membership.ClusterNodes;

/**
 * What may have changed in the configuration store since this server read it, so that it need not read everything after
 * every change. Any thread reports; the thread of the {@link ClusterServer} takes each hint before it reads.
 */
final class StoreHints {
    private final AtomicBoolean configuration = new AtomicBoolean();
    private final AtomicBoolean registrations = new AtomicBoolean();
    private final AtomicBoolean requests = new AtomicBoolean();

    /** A node has changed; returns whether a server that serves reads it. */
    boolean changed(String path) {
        if (path.equals(ConfigurationStore.ANY_PATH)) {
            all();
            return true;
        }
        final AtomicBoolean hint = path.equals(ConfigurationCodec.PATH)
                ? configuration
                : ClusterNodes.isRegistration(path) ? registrations : ClusterNodes.isTransfer(path) ? requests : null;
        if (hint != null) {
            hint.set(true);
        }
        return hint != null;
    }

    void all() {
        configuration.set(true);
        registrations.set(true);
        requests.set(true);
    }

    boolean takeConfiguration() {
        return configuration.getAndSet(false);
    }

    boolean takeRegistrations() {
        return registrations.getAndSet(false);
    }

    boolean takeRequests() {
        return requests.getAndSet(false);
    }
}
