package org.rowankv.server.shard;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * The roles of one configuration as one server sees them: its own primary shards, and of every shard the backups, the
 * joining ones among them, and the epoch, as plain arrays for the data path. A change of the configuration is another
 * snapshot, never a change of this one (see {@link CurrentRoles}).
 *
 * <p>Immutable and thread-safe.
 */
public final class Roles {
    private final int serverId;
    private final Configuration configuration;
    private final @Nullable ShardPrimary[] byShard;
    private final List<ShardPrimary> primaries;
    private final CacheCounts[] counts;
    private final int[][] backups;
    private final int[][] joining;
    private final int[] epochs;
    /** By shard and server; the array of a shard is shared with earlier roles in which it was the same. */
    private final int[][] tenures;
    /** By shard: whether its primary here begins nothing any more. */
    private final boolean[] closed;

    private final long[] incarnations;

    /**
     * @param serverId of the server whose view this is
     * @param primaryOf creates the primary of a shard; called for the shards that the configuration gives this server.
     *     Null for a shard that is not open here yet
     */
    public Roles(int serverId, Configuration configuration, IntFunction<@Nullable ShardPrimary> primaryOf) {
        this(serverId, configuration, primaryOf, shard -> null, null);
    }

    /** @param leavingOf the primary here of a shard that the configuration gives another server, or null */
    private Roles(
            int serverId,
            Configuration configuration,
            IntFunction<@Nullable ShardPrimary> primaryOf,
            IntFunction<@Nullable ShardPrimary> leavingOf,
            @Nullable Roles before) {
        final int shardCount = configuration.shardCount();
        this.serverId = serverId;
        this.configuration = configuration;
        this.byShard = new @Nullable ShardPrimary[shardCount];
        this.backups = new int[shardCount][];
        this.joining = new int[shardCount][];
        this.epochs = new int[shardCount];
        this.closed = new boolean[shardCount];
        final List<ShardPrimary> own = new ArrayList<>();
        for (int shard = 0; shard < shardCount; shard++) {
            final ShardAssignment assignment = configuration.shard(shard);
            final boolean isOwn = assignment.primary() == serverId;
            final ShardPrimary primary = isOwn ? primaryOf.apply(shard) : leavingOf.apply(shard);
            byShard[shard] = primary;
            if (primary != null) {
                own.add(primary);
            }
            backups[shard] = isOwn || primary == null ? assignment.backups() : assignment.others(serverId);
            epochs[shard] = assignment.epoch();
            joining[shard] =
                    Arrays.stream(backups[shard]).filter(assignment::isJoining).toArray();
            // What it writes is of an epoch before their tenures: they would not count the credit that it takes.
            closed[shard] = primary != null && !isOwn && joining[shard].length > 0;
        }
        this.primaries = List.copyOf(own);
        this.counts = countsOf(own);
        this.incarnations = new long[configuration.serverCount()];
        for (int server = 0; server < incarnations.length; server++) {
            incarnations[server] = configuration.incarnations().get(server);
        }
        this.tenures = new int[shardCount][];
        for (int shard = 0; shard < shardCount; shard++) {
            tenures[shard] = tenuresOf(configuration.shard(shard), before, shard);
        }
    }

    private int[] tenuresOf(ShardAssignment assignment, @Nullable Roles before, int shard) {
        final int[] all = new int[incarnations.length];
        for (int server = 0; server < all.length; server++) {
            if (assignment.isReplica(server)) {
                all[server] = before != null && before.isTenureOf(assignment, shard, server, incarnations[server])
                        ? before.tenures[shard][server]
                        : assignment.epoch();
            }
        }
        return before != null && Arrays.equals(all, before.tenures[shard]) ? before.tenures[shard] : all;
    }

    /** Whether a replica of a later assignment is in the same tenure as in these roles. */
    private boolean isTenureOf(ShardAssignment later, int shard, int server, long incarnation) {
        return tenures[shard][server] > 0
                && incarnations[server] == incarnation
                && (isJoining(shard, server) || !later.isJoining(server));
    }

    /** The roles of the same configuration with other primaries open or closed. */
    private Roles(Roles before, @Nullable ShardPrimary[] byShard, int[][] backups, boolean[] closed) {
        this.serverId = before.serverId;
        this.configuration = before.configuration;
        this.byShard = byShard;
        this.primaries = Arrays.stream(byShard).filter(Objects::nonNull).toList();
        this.counts = countsOf(primaries);
        this.backups = backups;
        this.joining = before.joining;
        this.epochs = before.epochs;
        this.tenures = before.tenures;
        this.closed = closed;
        this.incarnations = before.incarnations;
    }

    private static CacheCounts[] countsOf(List<ShardPrimary> primaries) {
        final CacheCounts[] counts = new CacheCounts[primaries.size()];
        for (int i = 0; i < counts.length; i++) {
            counts[i] = primaries.get(i).replica().counts();
        }
        return counts;
    }

    /**
     * The roles of the same configuration with the primary of one more shard, which the configuration gives this server.
     *
     * @throws IllegalArgumentException if it does not, or the shard has a primary here
     */
    public Roles opened(ShardPrimary primary) {
        final int shard = primary.replica().shardId();
        if (!isUnopened(shard)) {
            throw new IllegalArgumentException("shard " + shard + " is not to be opened by server " + serverId);
        }
        final @Nullable ShardPrimary[] more = byShard.clone();
        more[shard] = primary;
        return new Roles(this, more, backups, closed);
    }

    /**
     * The roles of the same configuration, in which the primary of a {@linkplain #isLeaving leaving} shard begins nothing
     * any more: the next one waits for it.
     */
    public Roles closing(int shard) {
        if (!isLeaving(shard)) {
            throw new IllegalArgumentException("shard " + shard + " does not leave server " + serverId);
        }
        final boolean[] more = closed.clone();
        more[shard] = true;
        return new Roles(this, byShard, backups, more);
    }

    /**
     * The roles of the same configuration without the primary of a {@linkplain #isLeaving leaving} shard, of which nothing
     * is under way here any more.
     */
    public Roles left(int shard) {
        if (!isLeaving(shard)) {
            throw new IllegalArgumentException("shard " + shard + " does not leave server " + serverId);
        }
        final @Nullable ShardPrimary[] fewer = byShard.clone();
        fewer[shard] = null;
        final int[][] present = backups.clone();
        present[shard] = configuration.shard(shard).backups();
        return new Roles(this, fewer, present, closed);
    }

    /**
     * Whether the configuration gives a shard, whose primary is here, to another server. Until it has {@linkplain #left
     * left}, the primary serves it, with all other replicas as its backups; {@linkplain #closing closed}, it answers
     * reads and finishes what it has begun.
     */
    public boolean isLeaving(int shard) {
        return byShard[shard] != null && configuration.shard(shard).primary() != serverId;
    }

    /** Whether a leaving shard's primary begins nothing any more. */
    boolean isClosed(int shard) {
        return closed[shard];
    }

    /** Whether the configuration makes this server the primary of a shard that is not open here yet. */
    public boolean isUnopened(int shard) {
        return configuration.shard(shard).primary() == serverId && byShard[shard] == null;
    }

    /**
     * The same server's roles in another configuration. A shard that stays here keeps its primary, and thereby its
     * version counter: two counters of one shard could assign one version twice, and CommitVer could pass a version
     * that the older one assigns late. Once the new snapshot is in force, the counters of
     * the shards whose epochs have risen are to be {@linkplain org.rowankv.protocol.VersionCounter#renew renewed}. A shard
     * that this server hands over {@linkplain #isLeaving leaves}; one that was closed goes on until it is closed again.
     *
     * @param primaryOf creates the primary of a shard that comes to this server, or null if it is not open yet
     */
    public Roles next(Configuration later, IntFunction<@Nullable ShardPrimary> primaryOf) {
        return new Roles(
                serverId,
                later,
                shard -> {
                    final ShardPrimary kept = find(shard);
                    return kept == null ? primaryOf.apply(shard) : kept;
                },
                this::find,
                this);
    }

    /**
     * The term, if by it this server is primary of nothing, and no shard is leaving it still: it is none then until a later
     * configuration makes it one. Otherwise 0.
     */
    public long bareTerm() {
        return primaries.isEmpty() && configuration.primariesOf(serverId).isEmpty() ? term() : 0;
    }

    public Configuration configuration() {
        return configuration;
    }

    public long term() {
        return configuration.term();
    }

    public int serverCount() {
        return incarnations.length;
    }

    public int shardCount() {
        return epochs.length;
    }

    /** The incarnation of a server that holds roles here. */
    public long incarnation(int server) {
        return incarnations[server];
    }

    /** The shards whose primary this server is, ordered by shard. */
    public List<ShardPrimary> primaries() {
        return primaries;
    }

    /** This server's primary of a shard; null if another server has it, it is not open, or it does not exist. */
    public @Nullable ShardPrimary find(int shard) {
        return shard >= 0 && shard < byShard.length ? byShard[shard] : null;
    }

    /** Whether that is this server's primary of the shard still, with the same replica and the same counter. */
    public boolean has(ShardPrimary primary) {
        return primary.equals(find(primary.replica().shardId()));
    }

    /** The shard's epoch: the tag of what its primary sends. */
    public int epoch(int shard) {
        return epochs[shard];
    }

    /**
     * The epoch of the first roles here in which a server has been a replica of a shard, with its present incarnation and
     * ever since; 0 if it is none. This server assigns no version between it and the {@linkplain ShardReplica#tenure
     * tenure} at that server: what is older than one of them is older than both.
     */
    public int tenure(int shard, int server) {
        return tenures[shard][server];
    }

    /** The backups of a shard, complete or joining: all that acknowledge its writes. */
    @SuppressWarnings("ReturnsArray") // read only, on the data path
    public int[] backups(int shard) {
        return backups[shard];
    }

    /** The backups of a shard that are catching up. */
    @SuppressWarnings("ReturnsArray") // read only, on the data path
    public int[] joining(int shard) {
        return joining[shard];
    }

    /** Replicas of a shard that suffice alone, the primary's among them. */
    public int completeReplicas(int shard) {
        return 1 + backups[shard].length - joining[shard].length;
    }

    public boolean isBackup(int shard, int server) {
        return contains(backups[shard], server);
    }

    public boolean isJoining(int shard, int server) {
        return contains(joining[shard], server);
    }

    private static boolean contains(int[] servers, int server) {
        for (int each : servers) {
            if (each == server) {
                return true;
            }
        }
        return false;
    }

    /** The counts of this server's primary shards, in the order of {@link #primaries}. */
    @SuppressWarnings("ReturnsArray") // read only, on the data path
    public CacheCounts[] counts() {
        return counts;
    }

    /** The last version assigned in a shard whose primary this server is, or 0. */
    public long lastVersion(int shard) {
        final ShardPrimary primary = byShard[shard];
        return primary == null ? 0 : primary.versions().last();
    }

    /** Objects evicted from this server's primary shards since its start. */
    public long evictedObjects() {
        long evicted = 0;
        for (CacheCounts each : counts) {
            evicted += each.evictions();
        }
        return evicted;
    }
}
