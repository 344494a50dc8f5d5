package org.rowankv.server.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.area.Area;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.membership.ClusterException;
import org.rowankv.server.membership.ClusterNodes;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.server.membership.InitialPlacement;
import org.rowankv.server.membership.Members;
import org.rowankv.server.membership.RegisteredServers;
import org.rowankv.server.membership.ServerRegistration;
import org.rowankv.server.peer.StaleTermException;
import org.rowankv.topology.Configuration;

/**
 * The roles of the servers in the configuration store: registration, reading and decision. Owned by the thread of the
 * {@link ClusterServer}.
 *
 * <p>Any method may throw {@link org.rowankv.server.configstore.ConfigurationStoreException}: the caller retries.
 */
final class StoredRoles {
    private final ClusterSettings settings;
    private final ClusterContext context;
    private final ClusterNodes nodes;
    private final WaitLog waitLog;
    private final Members members;
    private final long identity;
    private final int serverId;
    private final RegisteredServers announced = new RegisteredServers();
    private volatile List<String> clientAddresses = List.of();

    /** @param identity of the server's directory */
    StoredRoles(
            ClusterSettings settings,
            ClusterContext context,
            ClusterNodes nodes,
            WaitLog waitLog,
            Members members,
            long identity) {
        this.settings = settings;
        this.context = context;
        this.nodes = nodes;
        this.waitLog = waitLog;
        this.members = members;
        this.identity = identity;
        this.serverId = members.numberOf(settings.name());
    }

    Members members() {
        return members;
    }

    int serverId() {
        return serverId;
    }

    /** Client address of each server; empty if it has none. */
    List<String> clientAddresses() {
        return clientAddresses;
    }

    /** The stored configuration; the first server that finds none stores the initial one. */
    ClusterNodes.Stored stored() {
        ClusterNodes.Stored stored = nodes.configuration();
        while (stored == null) {
            final boolean unused = nodes.decide(InitialPlacement.of(members), ConfigurationStore.ABSENT);
            stored = nodes.configuration();
        }
        if (stored.configuration().clusterId() != members.clusterId()
                || stored.configuration().serverCount() != members.names().size()) {
            throw new ClusterException("the stored configuration of cluster '" + settings.cluster()
                    + "' belongs to another cluster: restore the right one from a backup of the configuration store");
        }
        return stored;
    }

    /** @throws ClusterException if area and stored configuration do not match in time */
    void requireNewest(Area area, Configuration stored) {
        if (area.superblock().term() > stored.term()) {
            throw new ClusterException("server '" + settings.name() + "' has adopted term "
                    + area.superblock().term() + ", but the configuration store holds term " + stored.term()
                    + ": what is stored for cluster '" + settings.cluster()
                    + "' is older than the data. Restore the newest from a backup of the configuration store");
        }
        final long known = stored.incarnations().get(serverId);
        if (area.superblock().incarnation() < known) {
            throw new ClusterException("the data of server '" + settings.name() + "' are from its start "
                    + area.superblock().incarnation() + ", but it has been started " + known
                    + " times: they are older than the configuration. Use its latest directory");
        }
    }

    /**
     * Registers the incarnation; returns the configuration that assigns its roles, or null if there is none yet. The
     * manager adds it, or all servers that are needed start together; after a while, without those that can be spared.
     */
    @Nullable
    Configuration find(Area area, RoleTerm own) {
        nodes.announce(announcement(area, own)); // repeated, in case another writer has overwritten it
        final ClusterNodes.Stored stored = stored();
        final Configuration found = stored.configuration();
        requireNewest(area, found);
        readRegistrations();
        if (found.names(serverId, own.incarnation())) {
            if (!found.hasManager()) {
                throw new StaleTermException("term " + found.term() + " asks all servers to start");
            }
            if (found.manager() == serverId && !found.excluded().isEmpty()) {
                own.startWithout(found.excluded()); // a former manager may have granted them leases
            }
            waitLog.goesOn();
            return found;
        }
        if (found.incarnations().get(serverId) == own.incarnation()) {
            throw new StaleTermException("term " + found.term() + " excludes this start of the server");
        }
        if (isLeftOut(found, serverId)) {
            waitLog.waits("waiting for the start of the others: they leave out this server, and add it afterwards", "");
            return null;
        }
        final Set<Integer> away = new TreeSet<>();
        final List<String> needed = new ArrayList<>();
        final List<Long> incarnations = new ArrayList<>(found.incarnations());
        for (int server = 0; server < found.serverCount(); server++) {
            if (registered(server) > found.incarnations().get(server) && !isLeftOut(found, server)) {
                incarnations.set(server, registered(server));
            } else {
                away.add(server);
                if (holdsCompleteReplica(found, server)) {
                    needed.add(describe(server));
                }
            }
        }
        final boolean waited = context.clock().nanoTime() - own.beganWaitingNs() >= settings.startWaitMs() * 1_000_000;
        if (needed.isEmpty() || waited) {
            final Configuration next =
                    found.restarted(incarnations, away, settings.shape().replicas());
            if (next != null) {
                // The first server decides; all read the result, this one too: it may get no answer.
                final boolean unused = nodes.decide(next.managedBy(serverId), stored.version());
                return find(area, own);
            }
        }
        waitLog.waits(
                "waiting for " + (needed.size() == 1 ? "server " : "servers ") + String.join(", ", needed)
                        + (waited
                                ? ": no other has complete replicas of some shards"
                                : ": a cluster starts when its servers are registered, or without those that can be"
                                        + " spared"),
                "");
        return null;
    }

    /** Whether the common start that is asked for is one without that server, which may run. */
    private static boolean isLeftOut(Configuration found, int server) {
        return !found.hasManager() && !found.isMember(server);
    }

    private static boolean holdsCompleteReplica(Configuration found, int server) {
        return found.shards().stream().anyMatch(shard -> shard.isComplete(server));
    }

    private String describe(int server) {
        final HostAndPort address = context.addresses().of(server);
        return members.names().get(server) + (address == null ? "" : " (at " + address + ")");
    }

    /** The incarnation that the server has registered last, as read last; 0 if there is none. */
    long registered(int server) {
        return announced.incarnation(server);
    }

    /** The incarnation with which a process of this server has registered last, as stored; 0 if none has. */
    long registeredIncarnation() {
        final ServerRegistration registration = nodes.announcement(settings.name());
        return registration == null ? 0 : registration.incarnation();
    }

    void readRegistrations() {
        final List<String> clients = new ArrayList<>();
        for (int server = 0; server < members.names().size(); server++) {
            final ServerRegistration registration =
                    nodes.announcement(members.names().get(server));
            if (registration != null) {
                register(server, registration);
            }
            clients.add(registration == null ? "" : registration.clients());
        }
        clientAddresses = List.copyOf(clients);
    }

    private ServerRegistration announcement(Area area, RoleTerm own) {
        assert area.serverId() == serverId;
        // Members identify the server by the directory's identity; its area belongs to that cluster.
        return new ServerRegistration(
                settings.name(),
                identity,
                settings.advertised(),
                settings.clients(),
                settings.admin(),
                settings.zone(),
                settings.shape(),
                own.incarnation(),
                own.nonce());
    }

    private void register(int server, ServerRegistration registration) {
        announced.put(server, registration);
        context.addresses().put(server, registration.address());
    }

    /** The registrations of the servers. Thread-safe. */
    RegisteredServers announced() {
        return announced;
    }

    /**
     * Begins a new term, so that all servers restart: each finds it at its next poll. False if another has begun
     * already.
     *
     * @param leftOut members without which they start; others have complete replicas of all shards
     */
    boolean supersede(RoleTerm present, Set<Integer> leftOut) {
        final Configuration own = present.configuration();
        final ClusterNodes.Stored stored = nodes.configuration();
        if (own == null || stored == null || stored.configuration().term() != own.term()) {
            return false;
        }
        // Another server's configuration has the same effect.
        final Configuration next =
                leftOut.isEmpty() ? null : stored.configuration().excluding(leftOut, Configuration.NO_MANAGER);
        final boolean unused =
                nodes.decide((next == null ? stored.configuration() : next).superseded(), stored.version());
        return true;
    }

    /**
     * For a server that has not begun to serve.
     *
     * @throws StaleTermException if a server has restarted, or the roles have changed
     */
    void requireUnchanged(RoleTerm present) {
        final Configuration own = present.configuration();
        final ClusterNodes.Stored stored = nodes.configuration();
        if (own == null || stored == null) {
            return; // a store that lost its nodes changes no assigned role
        }
        if (stored.configuration().term() > own.term()) {
            throw new StaleTermException("term " + stored.configuration().term() + " has begun");
        }
        readRegistrations();
        for (int server : own.members()) {
            if (registered(server) > own.incarnations().get(server)) {
                throw new StaleTermException("server " + members.names().get(server) + " has restarted");
            }
        }
    }

    /**
     * For a server that serves, and follows its manager.
     *
     * @throws StaleTermException if it is excluded, or another common start has begun
     */
    void requireNamed(RoleTerm present) {
        final Configuration own = present.configuration();
        final ClusterNodes.Stored stored = nodes.configuration();
        if (own == null || stored == null) {
            return;
        }
        final Configuration found = stored.configuration();
        if (found.startTerm() > own.startTerm()) {
            throw new StaleTermException("term " + found.startTerm() + " has begun");
        }
        if (found.term() > own.term() && !found.names(serverId, present.incarnation())) {
            throw new StaleTermException("term " + found.term() + " excludes this server");
        }
    }
}
