package org.rowankv.server.cluster;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.placement.Configuration;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.membership.ConfigurationCodec;
import org.rowankv.server.membership.ConfigurationStore;
import org.rowankv.server.membership.ConfigurationStoreException;
import org.rowankv.server.membership.StampedWrites;
import org.rowankv.server.membership.Versioned;

/**
 * The nodes of a cluster in its configuration store: {@code /members}, written once; {@code /configuration}; and an
 * announcement of each server below {@code /servers}.
 *
 * <p>The outcome of every compare-and-set is known when it returns: after a lost connection the node is read back, and its
 * stamp tells. For any thread; calls block, and throw {@link ConfigurationStoreException} while the store is away.
 */
final class ClusterNodes {
    private static final String MEMBERS = "/members";
    private static final String SERVERS = "/servers";

    private final ConfigurationStore store;
    private final StampedWrites writes;

    /** @param writer unique among all that write */
    ClusterNodes(ConfigurationStore store, String writer, RandomSource random) {
        this.store = store;
        this.writes = new StampedWrites(store, writer, random);
    }

    /** A configuration as it is stored. */
    record Stored(Configuration configuration, long version) {}

    @Nullable
    Members members() {
        final Versioned node = store.read(MEMBERS);
        return node == null ? null : Members.decode(MEMBERS, node.bytes());
    }

    /** Writes who the members are; false if somebody has. */
    boolean create(Members members) {
        return writes.compareAndSet(MEMBERS, ConfigurationStore.ABSENT, members.encode());
    }

    @Nullable
    Stored configuration() {
        final Versioned node = store.read(ConfigurationCodec.PATH);
        return node == null ? null : new Stored(ConfigurationCodec.decode(node.bytes()), node.version());
    }

    /** Stores a configuration in the place of the one of that version: who succeeds has decided. */
    boolean decide(Configuration next, long expectedVersion) {
        return writes.compareAndSet(ConfigurationCodec.PATH, expectedVersion, ConfigurationCodec.encode(next));
    }

    @Nullable
    Announcement announcement(String name) {
        final String path = SERVERS + "/" + name;
        final Versioned node = store.read(path);
        return node == null ? null : Announcement.decode(path, node.bytes());
    }

    List<Announcement> announcements() {
        final List<Announcement> all = new ArrayList<>();
        for (String path : store.list(SERVERS)) {
            final Versioned node = store.read(path);
            if (node != null) {
                all.add(Announcement.decode(path, node.bytes()));
            }
        }
        return all;
    }

    /**
     * Writes what a server says of itself.
     *
     * @throws ClusterException if another data directory goes by that name
     */
    void announce(Announcement own) {
        final String path = SERVERS + "/" + own.name();
        while (true) {
            final Versioned node = store.read(path);
            if (node != null) {
                final Announcement found = Announcement.decode(path, node.bytes());
                if (found.identity() != own.identity()) {
                    throw new ClusterException("another server goes by the name '" + own.name() + "', with another data"
                            + " directory, at " + found.address() + ": give each server a name of its own. If this is"
                            + " the same server, give it the data directory that it had");
                }
                if (found.equals(own)) {
                    return;
                }
            }
            if (writes.compareAndSet(path, node == null ? ConfigurationStore.ABSENT : node.version(), own.encode())) {
                return;
            }
        }
    }
}
