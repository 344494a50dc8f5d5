package org.rowankv.server.cluster;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.area.Area;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.membership.ClusterException;
import org.rowankv.server.membership.ClusterNodes;
import org.rowankv.server.membership.InitialPlacement;
import org.rowankv.server.membership.Members;
import org.rowankv.server.membership.RegisteredServers;
import org.rowankv.server.membership.ServerRegistration;
import org.rowankv.server.peer.StaleTermException;
import org.rowankv.topology.Configuration;

/**
 * The roles that the configuration store gives to the servers of a cluster: what a member announces, reads and decides there. Owned
 * by the thread of the {@link ClusterServer}.
 *
 * <p>Any method may throw {@link org.rowankv.server.configstore.ConfigurationStoreException}: the caller tries again.
 */
final class StoredRoles {
    private final ClusterSettings settings;
    private final ClusterContext around;
    private final ClusterNodes nodes;
    private final WaitLog saying;
    private final Members members;
    private final long identity;
    private final int serverId;
    private final RegisteredServers announced = new RegisteredServers();
    private volatile List<String> clientAddresses = List.of();

    /** @param identity of the server's directory */
    StoredRoles(
            ClusterSettings settings,
            ClusterContext around,
            ClusterNodes nodes,
            WaitLog saying,
            Members members,
            long identity) {
        this.settings = settings;
        this.around = around;
        this.nodes = nodes;
        this.saying = saying;
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

    /** Where clients reach each server; empty where they do not. */
    List<String> clientAddresses() {
        return clientAddresses;
    }

    /** The stored configuration; the first one is stored by whoever comes first. */
    ClusterNodes.Stored stored() {
        ClusterNodes.Stored stored = nodes.configuration();
        while (stored == null) {
            final boolean unused = nodes.decide(InitialPlacement.of(members), ConfigurationStore.ABSENT);
            stored = nodes.configuration();
        }
        if (stored.configuration().clusterId() != members.clusterId()
                || stored.configuration().serverCount() != members.names().size()) {
            throw new ClusterException("the stored configuration of cluster '" + settings.cluster()
                    + "' is that of another cluster: put the right one back from a backup of the configuration store");
        }
        return stored;
    }

    /** @throws ClusterException if the area and what is stored are not of one time */
    void requireNewest(Area area, Configuration stored) {
        if (area.superblock().term() > stored.term()) {
            throw new ClusterException("server '" + settings.name() + "' has adopted term "
                    + area.superblock().term() + ", but the configuration store holds term " + stored.term()
                    + ": what is stored for cluster '" + settings.cluster()
                    + "' is older than the data. Put the newest back from a backup of the configuration store");
        }
        final long known = stored.incarnations().get(serverId);
        if (area.superblock().incarnation() < known) {
            throw new ClusterException("the data of server '" + settings.name() + "' are those of its start "
                    + area.superblock().incarnation() + ", but it has been started " + known
                    + " times: they are older than the configuration. Give it the directory that it had last");
        }
    }

    /** Announces the incarnation; returns the configuration in which it has its roles, or null while there is none. */
    @Nullable
    Configuration find(Area area, RoleTerm own) {
        nodes.announce(announcement(area, own)); // again, if something else has overwritten it
        final ClusterNodes.Stored stored = stored();
        final Configuration found = stored.configuration();
        requireNewest(area, found);
        final List<Long> incarnations = new ArrayList<>();
        final List<String> behind = new ArrayList<>();
        final List<String> clients = new ArrayList<>();
        for (int server = 0; server < members.names().size(); server++) {
            final ServerRegistration said = nodes.announcement(members.names().get(server));
            final long announced = said == null ? 0 : said.incarnation();
            if (said != null) {
                heard(server, said);
            }
            if (announced <= found.incarnations().get(server)) {
                behind.add(members.names().get(server) + (said == null ? "" : " (at " + said.address() + ")"));
            }
            clients.add(said == null ? "" : said.clients());
            incarnations.add(announced);
        }
        clientAddresses = List.copyOf(clients);
        if (found.incarnations().get(serverId) == own.incarnation()) {
            saying.goesOn();
            return found;
        }
        if (behind.isEmpty()) {
            // Whoever is first decides; the others read it.
            final boolean unused = nodes.decide(found.restarted(incarnations), stored.version());
            return null;
        }
        saying.waits(
                "waiting for " + (behind.size() == 1 ? "server " : "servers ") + String.join(", ", behind)
                        + ": a cluster starts when all of its servers are there",
                "");
        return null;
    }

    private ServerRegistration announcement(Area area, RoleTerm own) {
        assert area.serverId() == serverId;
        // The directory's identity is what the members know the server by; its area has been found to be of that
        // cluster.
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

    private void heard(int server, ServerRegistration said) {
        announced.put(server, said);
        around.addresses().put(server, said.address());
    }

    /** What the servers have announced. Any thread. */
    RegisteredServers announced() {
        return announced;
    }

    /** Begins a term, so that all servers start anew: each one finds it at its next look. False if another has begun already. */
    boolean supersede(RoleTerm present) {
        final Configuration own = present.configuration();
        final ClusterNodes.Stored stored = nodes.configuration();
        if (own == null || stored == null || stored.configuration().term() != own.term()) {
            return false;
        }
        // Another server's configuration will do as well.
        final boolean unused = nodes.decide(stored.configuration().superseded(), stored.version());
        return true;
    }

    /** @throws StaleTermException if a server has started anew, or the roles have changed */
    void requireUnchanged(RoleTerm present) {
        final Configuration own = present.configuration();
        final ClusterNodes.Stored stored = nodes.configuration();
        if (own == null || stored == null) {
            return; // a store that lost its nodes changes nothing for who has roles
        }
        if (stored.configuration().term() > own.term()) {
            throw new StaleTermException("term " + stored.configuration().term() + " has begun");
        }
        for (int server = 0; server < members.names().size(); server++) {
            final ServerRegistration said = nodes.announcement(members.names().get(server));
            if (said != null) {
                heard(server, said);
                if (said.incarnation() > own.incarnations().get(server)) {
                    throw new StaleTermException("server " + said.name() + " has started anew");
                }
            }
        }
    }
}
