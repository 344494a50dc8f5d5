package org.rowankv.server.membership;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.topology.Configuration;

/**
 * What the configuration store says of a cluster, for people and tools that are no server of it.
 *
 * @param members of the cluster, by number; those that are there while it is still being made, in the order of their names
 * @param clusterId 0 while it is being made
 * @param wanted servers that it is to have
 * @param replicas of each shard
 * @param configuration null before there is one
 */
public record ClusterView(
        List<MemberView> members,
        long clusterId,
        int wanted,
        int replicas,
        @Nullable Configuration configuration) {

    /**
     * A server as it last said of itself.
     *
     * @param address for servers; empty if it never said anything
     * @param clients address for clients, or empty
     * @param admin address where it tells of itself, or empty
     * @param announced the start that it said it is
     * @param incarnation the start that has roles in the configuration; 0: none has
     */
    public record MemberView(
            String name, String zone, String address, String clients, String admin, long announced, long incarnation) {
        /** Whether the start that it last spoke of is the one that has roles. */
        public boolean hasRoles() {
            return incarnation > 0 && announced == incarnation;
        }
    }

    /** Reads it; null if there is no such cluster, and nobody who wants to make it. */
    public static @Nullable ClusterView read(ConfigurationStore store, RandomSource random) {
        final ClusterNodes nodes = new ClusterNodes(store, "view", random);
        final Members members = nodes.members();
        final ClusterNodes.Stored stored = nodes.configuration();
        final Configuration configuration = stored == null ? null : stored.configuration();
        final List<MemberView> views = new ArrayList<>();
        if (members == null) {
            final List<ServerRegistration> there = nodes.announcements();
            there.forEach(said -> views.add(view(said.name(), said.zone(), said, 0)));
            return there.isEmpty()
                    ? null
                    : new ClusterView(
                            List.copyOf(views),
                            0,
                            there.get(0).shape().servers(),
                            there.get(0).shape().replicas(),
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

    private static MemberView view(String name, String zone, @Nullable ServerRegistration said, long incarnation) {
        return said == null
                ? new MemberView(name, zone, "", "", "", 0, incarnation)
                : new MemberView(
                        name,
                        zone,
                        said.address().toString(),
                        said.clients(),
                        said.admin(),
                        said.incarnation(),
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
