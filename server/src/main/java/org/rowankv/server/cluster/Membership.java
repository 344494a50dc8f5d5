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
 * Cluster membership: servers register; the first to see the expected number of registrations stores the member list,
 * ordered by name. From then on the names are fixed. An empty directory replaces one whose data are lost, as soon as the
 * configuration does not count on them.
 */
final class Membership {
    private static final long POLL_MS = 100;

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

    /** Waits until the cluster has its members, including this server. */
    Members join() {
        while (true) {
            final Members members = nodes.members();
            if (members != null) {
                if (isMember(members)) {
                    return members;
                }
                replace(members);
                cluster.pause(POLL_MS);
                continue;
            }
            if (hasData()) {
                throw new ClusterException("the configuration store knows no cluster '" + settings.cluster()
                        + "', but " + directory.path() + " holds data of a server of it: the path or the servers of the"
                        + " configuration store are wrong, or its content was lost. Restore that from a backup");
            }
            final @Nullable Members found = gather();
            if (found != null) {
                final boolean unused = nodes.create(found); // another server may have stored it first
            } else {
                cluster.pause(POLL_MS);
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

    /**
     * Whether the directory is that of the member with the server's name; false if it is new.
     *
     * @throws ClusterException if it cannot become a member
     */
    private boolean isMember(Members members) {
        members.shape().requireSame(settings.shape(), "the cluster '" + settings.cluster() + "'");
        final int number = members.numberOf(settings.name());
        if (number < 0) {
            throw new ClusterException("the cluster '" + settings.cluster() + "' has its "
                    + members.names().size()
                    + " servers, and '" + settings.name() + "' is none of them: " + String.join(", ", members.names())
                    + ". This version cannot add servers to a cluster");
        }
        if (members.identities().get(number) == directory.identity()) {
            return true;
        }
        if (hasData()) {
            throw new ClusterException("the data directory " + directory.path()
                    + " is not the one with which server '" + settings.name() + "' is a member of the cluster '"
                    + settings.cluster() + "': use that one. If its data are lost, use an empty directory; if this is"
                    + " another server, give it a name of its own");
        }
        return false;
    }

    /** The new directory replaces that of the member, whose data are lost, as soon as the others can do without. */
    private void replace(Members members) {
        final int number = members.numberOf(settings.name());
        final ClusterNodes.Stored stored = nodes.configuration();
        if (stored == null) {
            cluster.say("waiting for the first configuration of the cluster");
            return;
        }
        if (stored.configuration().countsOn(number)) {
            cluster.say(AreaOpening.waitsForOthers(settings, directory));
            return;
        }
        // False if something has changed meanwhile: the next attempt sees it.
        final boolean unused =
                nodes.replace(members, members.replacing(number, directory.identity()), stored.version());
    }

    /** Registers this server; returns the member list if enough servers are registered, else null. */
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
        final List<ServerRegistration> registered = new ArrayList<>(nodes.announcements());
        registered.sort(Comparator.comparing(ServerRegistration::name));
        final int expected = settings.shape().servers();
        if (registered.size() < expected) {
            cluster.say("a new cluster: " + registered.size() + " of " + expected + " servers are registered ("
                    + String.join(
                            ", ",
                            registered.stream().map(ServerRegistration::name).toList()) + ")");
            return null;
        }
        if (registered.size() > expected) {
            throw new ClusterException("the cluster '" + settings.cluster() + "' is to have " + expected
                    + " servers, but " + registered.size() + " are registered" + ": "
                    + String.join(
                            ", ",
                            registered.stream().map(ServerRegistration::name).toList())
                    + ". Stop the surplus servers, and remove the nodes of this new cluster from the configuration"
                    + " store");
        }
        return new Members(
                drawn(),
                drawn(),
                settings.shape(),
                registered.stream().map(ServerRegistration::name).toList(),
                registered.stream().map(ServerRegistration::identity).toList(),
                registered.stream().map(ServerRegistration::zone).toList());
    }

    /** A random number other than 0. */
    private long drawn() {
        final long number = cluster.context().random().nextLong();
        return number == 0 ? 1 : number;
    }
}
