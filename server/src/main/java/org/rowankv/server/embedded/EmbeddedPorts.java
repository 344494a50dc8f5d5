package org.rowankv.server.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.engine.Server;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.Routing;

/**
 * Client ports of the servers of an embedded cluster, one each, for clients in other processes. Close them before the
 * cluster. Thread-safe.
 */
public final class EmbeddedPorts implements AutoCloseable {
    private final List<ClientPort> ports = new ArrayList<>();

    private final EmbeddedCluster cluster;
    private final Consumer<Configuration> publishing = this::publish;
    private List<String> addresses = List.of();
    private boolean closed;

    private EmbeddedPorts(EmbeddedCluster cluster) {
        this.cluster = cluster;
    }

    /**
     * Opens the ports at any free port numbers of the settings' host.
     *
     * @throws UncheckedIOException if a port cannot be opened
     */
    public static EmbeddedPorts open(EmbeddedCluster cluster, ClientPortSettings settings) {
        final EmbeddedPorts opened = new EmbeddedPorts(cluster);
        try {
            for (Server server : cluster.servers()) {
                opened.ports.add(ClientPort.bind(
                        server,
                        cluster.catalogue().countingAt(server),
                        settings,
                        SystemClock.INSTANCE,
                        cluster.errors()));
            }
            opened.addresses = opened.listAddresses();
            final Routing routing = new Routing(cluster.manager().inForce(), opened.addresses);
            opened.ports.forEach(port -> port.serve(routing));
            cluster.manager().observe(opened.publishing);
            opened.publish(cluster.manager().inForce()); // it may have changed in between
            return opened;
        } catch (IOException e) {
            opened.close();
            throw new UncheckedIOException(e);
        }
    }

    /** Not while they close, which takes long. */
    private synchronized void publish(Configuration next) {
        if (!closed) {
            ports.forEach(port -> port.publish(new Routing(next, addresses)));
        }
    }

    /** By server id, as {@code host:port}. */
    public List<String> addresses() {
        return addresses;
    }

    private List<String> listAddresses() {
        final List<String> listed = new ArrayList<>();
        for (ClientPort port : ports) {
            final InetSocketAddress address = port.address();
            final String host = address.getAddress().isAnyLocalAddress()
                    ? "localhost"
                    : address.getAddress().getHostAddress();
            listed.add((host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address.getPort());
        }
        return List.copyOf(listed);
    }

    /** For checkers. */
    public List<ClientPort> ports() {
        return Collections.unmodifiableList(ports);
    }

    @Override
    public void close() {
        cluster.manager().stopObserving(publishing);
        synchronized (this) {
            closed = true;
        }
        ports.forEach(ClientPort::close);
    }
}
