package org.rowankv.server.membership;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.configstore.ConfigurationCodec;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.configstore.NodeVersion;
import org.rowankv.server.configstore.StampedWrites;
import org.rowankv.server.configstore.VersionedNode;
import org.rowankv.topology.Configuration;

/**
 * The nodes of a cluster in its configuration store: {@code /members}, written once; {@code /configuration}; and a
 * registration of each server below {@code /servers}; requests to the manager below {@code /transfers}, by shard.
 *
 * <p>The outcome of every compare-and-set is known on return: after a lost connection the node is read back and
 * identified by its stamp. Thread-safe; calls block, and throw {@link ConfigurationStoreException} while the store is
 * unreachable.
 */
public final class ClusterNodes {
    private static final String MEMBERS = "/members";
    private static final String SERVERS = "/servers";
    private static final String VOTE = "/vote";
    private static final String TRANSFERS = "/transfers";
    private static final byte[] NO_BYTES = {};

    private final ConfigurationStore store;
    private final StampedWrites writes;
    private final Registrations registrations;

    /** For tools, which write no registration and do not authenticate any. */
    public ClusterNodes(ConfigurationStore store, String writer, RandomSource random) {
        this(store, new Registrations("", null), writer, random);
    }

    /** @param writer unique among all writers */
    public ClusterNodes(ConfigurationStore store, Registrations registrations, String writer, RandomSource random) {
        this.store = store;
        this.registrations = registrations;
        this.writes = new StampedWrites(store, writer, random);
    }

    /** A stored configuration with the version of its node. */
    public record Stored(Configuration configuration, long version) {}

    @Nullable
    public Members members() {
        final VersionedNode node = store.read(MEMBERS);
        return node == null ? null : Members.decode(MEMBERS, node.bytes());
    }

    /** Stores the member list; false if it is stored already. */
    public boolean create(Members members) {
        return writes.compareAndSet(MEMBERS, ConfigurationStore.ABSENT, members.encode());
    }

    /** Replaces the member list, on condition of the configuration's node version; false if either has changed. */
    public boolean replace(Members present, Members next, long configurationVersion) {
        final VersionedNode node = store.read(MEMBERS);
        return node != null
                && Members.decode(MEMBERS, node.bytes()).equals(present)
                && writes.compareAndSet(
                        MEMBERS,
                        node.version(),
                        next.encode(),
                        new NodeVersion(ConfigurationCodec.PATH, configurationVersion));
    }

    @Nullable
    public Stored configuration() {
        final VersionedNode node = store.read(ConfigurationCodec.PATH);
        return node == null ? null : new Stored(ConfigurationCodec.decode(node.bytes()), node.version());
    }

    /** Replaces the configuration of that node version by compare-and-set; returns whether this call has decided. */
    public boolean decide(Configuration next, long expectedVersion) {
        return writes.compareAndSet(ConfigurationCodec.PATH, expectedVersion, ConfigurationCodec.encode(next));
    }

    /**
     * As above, on condition that no manager was confirmed by {@link #vote} since that node version of the votes.
     *
     * @param voteVersion of {@link #voteVersion}
     */
    public boolean decide(Configuration next, long expectedVersion, long voteVersion) {
        return writes.compareAndSet(
                ConfigurationCodec.PATH,
                expectedVersion,
                ConfigurationCodec.encode(next),
                new NodeVersion(VOTE, voteVersion));
    }

    /** The node version of the votes, which each vote changes; creates the node if there is none. */
    public long voteVersion() {
        VersionedNode node = store.read(VOTE);
        while (node == null) {
            final boolean unused = writes.compareAndSet(VOTE, ConfigurationStore.ABSENT, NO_BYTES);
            node = store.read(VOTE);
        }
        return node.version();
    }

    /** Votes for the manager of the configuration of that node version; false if another one is stored. */
    public boolean vote(long configurationVersion) {
        return writes.compareAndSet(
                VOTE, voteVersion(), NO_BYTES, new NodeVersion(ConfigurationCodec.PATH, configurationVersion));
    }

    /** The last registration of a server; null if there is none, or it is not genuine. */
    @Nullable
    public ServerRegistration announcement(String name) {
        final String path = SERVERS + "/" + name;
        return genuine(path, store.read(path));
    }

    private @Nullable ServerRegistration genuine(String path, @Nullable VersionedNode node) {
        return node == null || !registrations.isGenuine(path, node.bytes(), node.version())
                ? null
                : ServerRegistration.decode(path, node.bytes());
    }

    /** Whether it is the registration of a server. */
    public static boolean isRegistration(String path) {
        return path.startsWith(SERVERS + "/");
    }

    public List<ServerRegistration> announcements() {
        final List<ServerRegistration> all = new ArrayList<>();
        for (String path : store.list(SERVERS)) {
            final ServerRegistration registration = genuine(path, store.read(path));
            if (registration != null) {
                all.add(registration);
            }
        }
        return all;
    }

    /** Whether it is registered with the directory of which the member list says that it is that server's. */
    private boolean isOfMember(ServerRegistration registration) {
        final Members members = members();
        final int server = members == null ? -1 : members.numberOf(registration.name());
        return server >= 0 && Objects.requireNonNull(members).identities().get(server) == registration.identity();
    }

    /**
     * Stores a server's registration.
     *
     * @throws ClusterException if another data directory has that name, or another process runs as that incarnation
     */
    public void announce(ServerRegistration own) {
        final String path = SERVERS + "/" + own.name();
        final byte[] signed = registrations.signed(path, own.encode());
        while (true) {
            final VersionedNode node = store.read(path);
            final ServerRegistration found = genuine(path, node);
            if (found != null) {
                if (found.identity() != own.identity() && !isOfMember(own)) {
                    throw new ClusterException("another server uses the name '" + own.name() + "', with another data"
                            + " directory, at " + found.address() + ": give each server a name of its own. If this is"
                            + " the same server, use its previous data directory");
                }
                if (found.equals(own)) {
                    return;
                }
                if (own.incarnation() > 0 && found.incarnation() == own.incarnation() && found.nonce() != own.nonce()) {
                    throw new ClusterException("another process runs as start " + own.incarnation() + " of server '"
                            + own.name() + "', at " + found.address()
                            + ": two run on copies of one data directory. Stop one, and remove its copy");
                }
            }
            if (writes.compareAndSet(path, node == null ? ConfigurationStore.ABSENT : node.version(), signed)) {
                return;
            }
        }
    }

    // --- transfers ---

    /** Those that are not refused. */
    public List<TransferRequest> transfers() {
        final List<TransferRequest> all = new ArrayList<>();
        for (String path : store.list(TRANSFERS)) {
            final VersionedNode node = store.read(path);
            final TransferRequest found = node == null ? null : TransferRequest.decode(path, node);
            if (found != null && !found.isRefused()) {
                all.add(found);
            }
        }
        return all;
    }

    /** What is asked for of a shard; null if nothing is, any more. */
    @Nullable
    public TransferRequest transfer(int shard) {
        final String path = transferPath(shard);
        final VersionedNode node = store.read(path);
        return node == null ? null : TransferRequest.decode(path, node);
    }

    /** Asks the manager; false if another request for that shard has come before. */
    public boolean askFor(int shard, int to) {
        final TransferRequest present = transfer(shard);
        return (present == null || present.isRefused())
                && writes.compareAndSet(
                        transferPath(shard),
                        present == null ? ConfigurationStore.ABSENT : present.version(),
                        new TransferRequest(shard, to, "", 0).encode());
    }

    /** Answers it; without effect if it is there no more. */
    public void refuse(TransferRequest request, String why) {
        final boolean unused = writes.compareAndSet(
                transferPath(request.shard()),
                request.version(),
                request.refused(why).encode());
    }

    /** It is done, or given up; false if it is there no more. */
    public boolean remove(TransferRequest request) {
        return store.delete(transferPath(request.shard()), request.version());
    }

    /** Whether it is, or was, a request for a transfer. */
    public static boolean isTransfer(String path) {
        return path.startsWith(TRANSFERS + "/");
    }

    private static String transferPath(int shard) {
        return TRANSFERS + "/" + shard;
    }
}
