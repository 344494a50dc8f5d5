package org.rowankv.daemon;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.WorkerIo;
import org.rowankv.rdma.tcp.TcpWorkerIo;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.server.cluster.ClientDoor;
import org.rowankv.server.engine.Server;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.frontend.PortCounts;
import org.rowankv.server.peer.ClusterCatalogue;
import org.rowankv.topology.Routing;

/**
 * Lets clients in at a port: from when the server serves first until it stops. Connections outlast a new start of the roles;
 * what comes meanwhile waits. Thread-safe.
 */
final class PortDoor implements ClientDoor {
    private final ClientPortSettings settings;
    private final Clock clock;
    private final ErrorLog errors;
    private final PortCounts counts;
    /** Those of the port, which ends them when it is closed. Guarded by this; none before they are asked for. */
    private List<WorkerIo> ios = List.of();

    private volatile @Nullable ClientPort port;

    /** @param counts what the port does */
    PortDoor(ClientPortSettings settings, Clock clock, ErrorLog errors, PortCounts counts) {
        this.settings = settings;
        this.clock = clock;
        this.errors = errors;
        this.counts = counts;
    }

    @Override
    public synchronized List<WorkerIo> ios() {
        if (ios.isEmpty()) {
            ios = Stream.<WorkerIo>generate(TcpWorkerIo::new)
                    .limit(settings.loops())
                    .toList();
        }
        return ios;
    }

    @Override
    public Opened open(Server server, Routing routing, ClusterCatalogue catalogue) {
        final ClientPort present = port;
        final ClientPort open;
        if (present != null) {
            open = present;
            open.resume(server, catalogue, routing);
        } else {
            try {
                open = ClientPort.bind(server, catalogue, settings, clock, errors, counts, ios());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            port = open.serve(routing);
        }
        return new Opened() {
            @Override
            public void pause() {
                open.pause();
            }

            @Override
            public void close() {
                open.close();
            }
        };
    }

    @Override
    public Map<String, Long> counts() {
        return Map.of(
                "client-connections", (long) counts.connections(),
                "client-requests", counts.requests(),
                "stale-terms", counts.staleTerms(),
                "retries-joined", counts.replayed());
    }

    /** Nobody has ever turned them. */
    private synchronized void endIos() {
        ios.forEach(WorkerIo::close);
    }

    @Override
    public void close() {
        final ClientPort present = port;
        if (present == null) {
            endIos();
        } else {
            present.close();
        }
    }
}
