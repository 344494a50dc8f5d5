package org.rowankv.server.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.catalogue.ClientCatalogue;
import org.rowankv.server.catalogue.StoredCache;
import org.rowankv.server.engine.Server;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.topology.Routing;

/**
 * Client ports of the servers of an embedded cluster, one each: so that other processes can use a store that lives in this
 * one. To be closed before the cluster. Thread-safe.
 */
public final class EmbeddedPorts implements AutoCloseable {
    private final List<ClientPort> ports = new ArrayList<>();

    private EmbeddedPorts() {}

    /**
     * Opens them at any free ports of the settings' host.
     *
     * @throws UncheckedIOException if a port cannot be opened
     */
    public static EmbeddedPorts open(EmbeddedCluster cluster, ClientPortSettings settings) {
        final EmbeddedPorts opened = new EmbeddedPorts();
        try {
            for (Server server : cluster.servers()) {
                opened.ports.add(ClientPort.bind(
                        server,
                        new CatalogueOf(cluster.session().catalogue(), server),
                        settings,
                        SystemClock.INSTANCE,
                        cluster.errors()));
            }
            final Routing routing = new Routing(cluster.configuration(), opened.addresses());
            opened.ports.forEach(port -> port.serve(routing));
            return opened;
        } catch (IOException e) {
            opened.close();
            throw new UncheckedIOException(e);
        }
    }

    /** By server id, as {@code host:port}. */
    public List<String> addresses() {
        final List<String> addresses = new ArrayList<>();
        for (ClientPort port : ports) {
            final InetSocketAddress address = port.address();
            final String host = address.getAddress().isAnyLocalAddress()
                    ? "localhost"
                    : address.getAddress().getHostAddress();
            addresses.add((host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address.getPort());
        }
        return addresses;
    }

    /** For judges that look inside. */
    public List<ClientPort> ports() {
        return Collections.unmodifiableList(ports);
    }

    @Override
    public void close() {
        ports.forEach(ClientPort::close);
    }

    /** The cluster's catalogue, but of evictions only those of one server. */
    private record CatalogueOf(Catalogue all, Server server) implements ClientCatalogue {
        private static StoredCache stored(Catalogue.CacheRecord record) {
            return new StoredCache(record.id(), record.name(), record.descriptor(), record.limit());
        }

        @Override
        public @Nullable StoredCache find(String name) {
            final Catalogue.CacheRecord found = all.find(name);
            return found == null ? null : stored(found);
        }

        @Override
        public StoredCache create(String name, byte[] descriptor) {
            return stored(all.create(name, descriptor));
        }

        @Override
        public boolean limit(String name, CacheLimit limit) {
            return all.limit(name, limit);
        }

        @Override
        public long evictions(int cacheId) {
            return server.evictions(cacheId);
        }

        @Override
        public boolean destroy(String name) {
            return all.destroy(name);
        }

        @Override
        public List<StoredCache> list() {
            return all.list().stream().map(CatalogueOf::stored).toList();
        }
    }
}
