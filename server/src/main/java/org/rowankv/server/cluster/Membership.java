package org.rowankv.server.cluster;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.directory.DataDirectory;
import org.rowankv.server.membership.ClusterException;
import org.rowankv.server.membership.ClusterNodes;
import org.rowankv.server.membership.Members;
import org.rowankv.server.membership.ServerRegistration;

/**
 * How a server comes to be a member: it says that it is there; once as many have as the cluster is to have, whoever sees it
 * first writes down who they are, by the order of their names. From then on the members are those.
 */
final class Membership {
    private static final long LOOK_MS = 100;

    private final ClusterServer cluster;
    private final ClusterNodes nodes;
    private final DataDirectory directory;
    private final ClusterSettings settings;

    Membership(ClusterServer cluster, ClusterNodes nodes, DataDirectory directory) {
        this.cluster = cluster;
        this.nodes = nodes;
        this.directory = directory;
        this.settings = cluster.settings();
    }

    /** Waits until the cluster has its members, of which this server is one. */
    Members join() {
        while (true) {
            final Members members = nodes.members();
            if (members != null) {
                requireMember(members);
                return members;
            }
            if (hasData()) {
                throw new ClusterException("the configuration store knows no cluster '" + settings.cluster()
                        + "', but " + directory.path() + " holds data of a server of it: the path or the servers of the"
                        + " configuration store are others, or what it held was lost. Put that back from a backup");
            }
            final @Nullable Members found = gather();
            if (found != null) {
                final boolean unused = nodes.create(found); // somebody else may have
            } else {
                cluster.pause(LOOK_MS);
            }
        }
    }

    private boolean hasData() {
        for (int server = 0; server < settings.shape().servers(); server++) {
            if (directory.hasArea(server)) {
                return true;
            }
        }
        return false;
    }

    private void requireMember(Members members) {
        members.shape().requireSame(settings.shape(), "the cluster '" + settings.cluster() + "'");
        final int number = members.numberOf(settings.name());
        if (number < 0) {
            throw new ClusterException("the cluster '" + settings.cluster() + "' has its "
                    + members.names().size()
                    + " servers, and '" + settings.name() + "' is none of them: " + String.join(", ", members.names())
                    + ". This version cannot add servers to a cluster");
        }
        if (members.identities().get(number) != directory.identity()) {
            throw new ClusterException("the data directory " + directory.path() + " is not the one with which server '"
                    + settings.name() + "' became a member of the cluster '" + settings.cluster()
                    + "': give it that one, or put it back from a backup; if this is another server, give it a name of"
                    + " its own");
        }
    }

    /** Says that this server is there; returns who the members are if they are enough, else null. */
    private @Nullable Members gather() {
        for (ServerRegistration other : nodes.announcements()) {
            if (!other.name().equals(settings.name())) {
                other.shape().requireSame(settings.shape(), "server '" + other.name() + "' at " + other.address());
            }
        }
        nodes.announce(new ServerRegistration(
                settings.name(),
                directory.identity(),
                settings.advertised(),
                settings.clients(),
                settings.admin(),
                settings.zone(),
                settings.shape(),
                0,
                0));
        final List<ServerRegistration> there = new ArrayList<>(nodes.announcements());
        there.sort(Comparator.comparing(ServerRegistration::name));
        final int wanted = settings.shape().servers();
        if (there.size() < wanted) {
            cluster.say("a new cluster: " + there.size() + " of " + wanted + " servers are there ("
                    + String.join(
                            ", ", there.stream().map(ServerRegistration::name).toList()) + ")");
            return null;
        }
        if (there.size() > wanted) {
            throw new ClusterException("the cluster '" + settings.cluster() + "' is to have " + wanted
                    + " servers, but there are " + there.size() + ": "
                    + String.join(
                            ", ", there.stream().map(ServerRegistration::name).toList())
                    + ". Stop those that are too many, and remove what the configuration store holds of this new"
                    + " cluster");
        }
        return new Members(
                drawn(),
                drawn(),
                settings.shape(),
                there.stream().map(ServerRegistration::name).toList(),
                there.stream().map(ServerRegistration::identity).toList(),
                there.stream().map(ServerRegistration::zone).toList());
    }

    /** A number that was not drawn before, and not 0. */
    private long drawn() {
        final long number = cluster.surroundings().random().nextLong();
        return number == 0 ? 1 : number;
    }
}
