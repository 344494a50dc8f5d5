package org.rowankv.daemon;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.IoPoller;
import org.rowankv.rdma.tcp.TcpIoPoller;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.server.cluster.ClientEndpoint;
import org.rowankv.server.engine.Server;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.frontend.PortCounters;
import org.rowankv.server.peer.ClusterCatalogue;
import org.rowankv.topology.Routing;

/**
 * Serves clients at a port, from the server's first service until it stops. Connections outlast a restart of the roles;
 * requests are held meanwhile. Thread-safe.
 */
final class PortEndpoint implements ClientEndpoint {
    private final ClientPortSettings settings;
    private final Clock clock;
    private final ErrorLog errors;
    private final PortCounters counts;
    /** I/O pollers of the port, which closes them. Guarded by this; empty before the first request for them. */
    private List<IoPoller> ios = List.of();

    private volatile @Nullable ClientPort port;

    /** @param counts counters of the port */
    PortEndpoint(ClientPortSettings settings, Clock clock, ErrorLog errors, PortCounters counts) {
        this.settings = settings;
        this.clock = clock;
        this.errors = errors;
        this.counts = counts;
    }

    @Override
    public synchronized List<IoPoller> ios() {
        if (ios.isEmpty()) {
            ios = Stream.<IoPoller>generate(TcpIoPoller::new)
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
        server.copies().yieldTo(counts::mutationLatencyCount);
        return new Opened() {
            @Override
            public void pause() {
                open.pause();
            }

            @Override
            public void route(Routing next) {
                open.publish(next);
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

    /** No loop has ever run them. */
    private synchronized void endIos() {
        ios.forEach(IoPoller::close);
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
