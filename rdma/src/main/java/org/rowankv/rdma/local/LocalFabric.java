package org.rowankv.rdma.local;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.FabricCapabilities;
import org.rowankv.rdma.FabricException;

/**
 * Fabric between servers of one JVM. Tracks the open incarnation of each server and, across incarnations, the fenced
 * senders that still name a segment of its area: area and quarantine outlive the endpoint.
 *
 * <p>Safe for any thread; guarded by its own monitor, which is never held while an endpoint is called.
 */
public final class LocalFabric implements Fabric {
    private final LocalFabricSettings settings;
    private final Map<Integer, LocalEndpoint> endpoints = new HashMap<>();
    private final Map<Integer, List<LocalQueuePair>> lingering = new HashMap<>();
    private boolean closed;

    public LocalFabric() {
        this(LocalFabricSettings.defaults());
    }

    public LocalFabric(LocalFabricSettings settings) {
        this.settings = settings;
    }

    @Override
    public FabricCapabilities capabilities() {
        return new FabricCapabilities(settings.maxMessage(), settings.ackLevel());
    }

    @Override
    public Endpoint open(EndpointSettings endpointSettings) {
        endpointSettings.conclude(settings.ackLevel());
        final int serverId = endpointSettings.serverId();
        final LocalEndpoint former = endpoint(serverId);
        if (former != null) {
            if (former.settings().incarnation() == endpointSettings.incarnation()) {
                throw alreadyOpen(serverId);
            }
            former.close();
        }
        synchronized (this) {
            if (closed) {
                throw new FabricException(FabricException.Reason.CLOSED, "the fabric is closed");
            }
            if (endpoints.containsKey(serverId)) {
                throw alreadyOpen(serverId);
            }
            final List<LocalQueuePair> kept = lingering.getOrDefault(serverId, List.of());
            final LocalEndpoint endpoint = new LocalEndpoint(this, settings, endpointSettings, kept);
            endpoints.put(serverId, endpoint);
            return endpoint;
        }
    }

    @Override
    public void close() {
        final List<LocalEndpoint> open;
        synchronized (this) {
            closed = true;
            open = new ArrayList<>(endpoints.values());
        }
        open.forEach(LocalEndpoint::close);
    }

    synchronized @Nullable LocalEndpoint endpoint(int serverId) {
        return endpoints.get(serverId);
    }

    /** Removes a closed endpoint, and keeps the senders that may still access its memory. */
    synchronized void closed(LocalEndpoint endpoint, List<LocalQueuePair> stillNaming) {
        final int serverId = endpoint.settings().serverId();
        if (endpoints.remove(serverId, endpoint)) {
            lingering.remove(serverId);
            if (!stillNaming.isEmpty()) {
                lingering.put(serverId, stillNaming);
            }
        }
    }

    private static FabricException alreadyOpen(int serverId) {
        return new FabricException(
                FabricException.Reason.CLOSED, "server " + serverId + " is open already in this process");
    }
}
