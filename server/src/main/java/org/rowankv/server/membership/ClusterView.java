package org.rowankv.server.membership;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.topology.Configuration;

/**
 * The state of a cluster in its configuration store, for users and tools.
 *
 * @param members of the cluster, by number; before the cluster is complete, the registered servers by name
 * @param clusterId 0 before the cluster is complete
 * @param expected number of servers that it is to have
 * @param replicas of each shard
 * @param configuration null before there is one
 */
public record ClusterView(
        List<MemberView> members,
        long clusterId,
        int expected,
        int replicas,
        @Nullable Configuration configuration) {

    /**
     * A server according to its last registration.
     *
     * @param address for servers; empty if it is not registered
     * @param clients address for clients, or empty
     * @param admin address of its admin port, or empty
     * @param announced its registered incarnation
     * @param incarnation the incarnation with roles in the configuration; 0: none
     */
    public record MemberView(
            String name, String zone, String address, String clients, String admin, long announced, long incarnation) {
        /** Whether the registered incarnation has roles. */
        public boolean hasRoles() {
            return incarnation > 0 && announced == incarnation;
        }
    }

    /** Reads the view; null if there is neither a cluster nor a registration. */
    public static @Nullable ClusterView read(ConfigurationStore store, RandomSource random) {
        final ClusterNodes nodes = new ClusterNodes(store, "view", random);
        final Members members = nodes.members();
        final ClusterNodes.Stored stored = nodes.configuration();
        final Configuration configuration = stored == null ? null : stored.configuration();
        final List<MemberView> views = new ArrayList<>();
        if (members == null) {
            final List<ServerRegistration> registered = nodes.announcements();
            registered.forEach(each -> views.add(view(each.name(), each.zone(), each, 0)));
            return registered.isEmpty()
                    ? null
                    : new ClusterView(
                            List.copyOf(views),
                            0,
                            registered.get(0).shape().servers(),
                            registered.get(0).shape().replicas(),
                            null);
        }
        for (int server = 0; server < members.names().size(); server++) {
            final String name = members.names().get(server);
            views.add(view(
                    name,
                    members.zones().get(server),
                    nodes.announcement(name),
                    configuration == null ? 0 : configuration.incarnations().get(server)));
        }
        return new ClusterView(
                List.copyOf(views),
                members.clusterId(),
                members.names().size(),
                members.shape().replicas(),
                configuration);
    }

    private static MemberView view(
            String name, String zone, @Nullable ServerRegistration registration, long incarnation) {
        return registration == null
                ? new MemberView(name, zone, "", "", "", 0, incarnation)
                : new MemberView(
                        name,
                        zone,
                        registration.address().toString(),
                        registration.clients(),
                        registration.admin(),
                        registration.incarnation(),
                        incarnation);
    }

    /** The number of a server, or −1. */
    public int numberOf(String name) {
        for (int server = 0; server < members.size(); server++) {
            if (members.get(server).name().equals(name)) {
                return server;
            }
        }
        return -1;
    }
}
