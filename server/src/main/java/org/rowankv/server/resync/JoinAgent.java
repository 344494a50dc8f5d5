package org.rowankv.server.resync;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.digest.DigestAgent;
import org.rowankv.server.digest.LandingPosition;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.FormerReplica;

/**
 * The receiver's part of a re-replication: begins the replicas that a configuration gives this server, and ends those
 * that one takes from it. Once all of a shard's copy has landed and taken effect, the replica is complete, which is
 * reported until it is stored. Shares its thread with the digest.
 */
public final class JoinAgent implements Agent {
    private static final int LOCK_OWNER = (1 << 20) + 6;
    /** Reports are repeated, and those of several shards go together. */
    private static final long REPORT_NS = 50_000_000L;

    private static final long AFTER_FAILURE_NS = 1_000_000_000L;

    private final int serverId;
    private final DigestAgent digest;
    private final Segments segments;
    private final Replicas replicas;
    private final TenureChanges changes;
    private final OwnedCounter reused = new OwnedCounter();
    /** Null when nothing more is found there. */
    private volatile @Nullable FormerEntries former;

    private final CopyListener listener;
    private final Clock clock;
    private final ErrorLog errors;
    private final Queue<Copied> landed = new ConcurrentLinkedQueue<>();
    private final Map<Integer, Undigested> undigested = new TreeMap<>();
    /** By shard: the epoch in which its replica is complete. */
    private final SortedMap<Integer, Integer> complete = new TreeMap<>();

    private boolean isNew;
    private long reportNs;

    private record Copied(int shard, int epoch) {}

    private record Undigested(ShardReplica replica, int epoch, LandingPosition mark) {}

    public JoinAgent(
            int serverId,
            DigestAgent digest,
            Segments segments,
            Replicas replicas,
            CurrentRoles roles,
            CopyListener listener,
            Clock clock,
            ErrorLog errors) {
        this.serverId = serverId;
        this.digest = digest;
        this.segments = segments;
        this.replicas = replicas;
        this.changes = new TenureChanges(serverId, digest, segments, replicas);
        this.former = segments.former().isEmpty()
                ? null
                : new FormerEntries(serverId, segments, replicas, digest, roles, listener, clock, reused);
        this.listener = listener;
        this.clock = clock;
        this.errors = errors;
        this.reportNs = clock.nanoTime();
    }

    @Override
    public String roleName() {
        return "join";
    }

    /**
     * Begins the replicas that a configuration gives this server as a joining backup and that it does not hold. Their
     * tenures are durable first. Then the replicas are there, and only then may an entry with the tag of their epoch
     * land: call this before the configuration counts as prepared. May wait for the device. Not by the agents' thread, and
     * by one thread at a time.
     *
     * @return whether all are there; if not, the agents have still to run: call again
     */
    public boolean join(Configuration next) {
        return changes.join(next);
    }

    /** Ends the replicas that a configuration in force does not give this server. By the thread of {@link #join}. */
    public void follow(Configuration inForce) {
        changes.follow(inForce);
    }

    /** The replicas that are catching up. Any thread. */
    public List<FormerReplica> present() {
        final List<FormerReplica> present = new ArrayList<>();
        for (int shard = 0; shard < replicas.shardCount(); shard++) {
            final ShardReplica replica = replicas.find(shard);
            if (replica != null && replica.isJoining()) {
                present.add(new FormerReplica(
                        shard, replica.commitVersion(), replica.index().count()));
            }
        }
        return present;
    }

    /** See {@link CopyListener#announced}. Any thread. */
    public boolean announced(int shard, int epoch, long bytes, BitSet destroyed) {
        final ShardReplica replica = replicas.find(shard);
        if (replica != null && epoch >= replica.tenure()) {
            if (epoch > digest.reserve().epoch(shard)) {
                replica.clears().retire(destroyed);
                digest.reserve().announced(shard, epoch, bytes);
            }
            return former == null;
        }
        return true;
    }

    /** See {@link CopyListener#copied}. Any thread. */
    public boolean copied(int shard, int epoch) {
        landed.add(new Copied(shard, epoch));
        return true;
    }

    @Override
    public int doWork() {
        int done = changes.step() + useFormer();
        for (Copied copied = landed.poll(); copied != null; copied = landed.poll()) {
            onCopied(copied.shard(), copied.epoch());
        }
        if (!undigested.isEmpty()) {
            done += complete();
        }
        if (!complete.isEmpty()) {
            report();
        }
        return done;
    }

    /** A copy of an earlier epoch counts nothing: another primary has announced its own since. */
    private void onCopied(int shard, int epoch) {
        final ShardReplica replica = replicas.find(shard);
        if (replica == null
                || epoch < replica.tenure()
                || epoch < digest.reserve().epoch(shard)) {
            return;
        }
        final Undigested before = undigested.get(shard);
        if (before == null || !before.replica().equals(replica) || before.epoch() < epoch) {
            undigested.put(shard, new Undigested(replica, epoch, digest.landed()));
        }
    }

    private int complete() {
        int done = 0;
        // By value: the removal of a tree's entry may move another key and value into it.
        final Iterator<Undigested> each = undigested.values().iterator();
        while (each.hasNext()) {
            final Undigested copy = each.next();
            if (!replicas.has(copy.replica())) {
                each.remove();
            } else if (digest.isDigested(copy.mark())) {
                each.remove();
                complete(copy);
                done++;
            }
        }
        return done;
    }

    private void complete(Undigested copy) {
        final int shard = copy.replica().shardId();
        Chaos.point("join.digested");
        if (copy.replica().isJoining()) {
            segments.space().release(copy.replica().joined(LOCK_OWNER));
        }
        digest.joined(shard);
        final @Nullable Integer before = complete.put(shard, copy.epoch());
        isNew |= before == null || before < copy.epoch();
    }

    private int useFormer() {
        final FormerEntries using = former;
        if (using == null) {
            return 0;
        }
        final int done = using.advance();
        if (using.isOver()) {
            former = null;
        }
        return done;
    }

    /** Entries that this server had before its tenures, and need not be copied. Any thread. */
    public long reusedEntries() {
        return reused.get();
    }

    @Override
    public void onClose() {
        final FormerEntries using = former;
        if (using != null) {
            using.close();
        }
    }

    private boolean isComplete(int shard) {
        final ShardReplica replica = replicas.find(shard);
        return replica != null && !replica.isJoining();
    }

    /**
     * At once when nothing else is catching up. Storing it may fail for a while, for example on a full disk: that is
     * retried, and is no failure of this agent.
     */
    private void report() {
        complete.keySet().removeIf(shard -> !isComplete(shard)); // given up, and perhaps begun anew
        final long nowNs = clock.nanoTime();
        if (nowNs - reportNs < 0 && !(isNew && !replicas.isJoining())) {
            return;
        }
        isNew = false;
        reportNs = nowNs + REPORT_NS;
        try {
            if (complete.isEmpty() || listener.joined(serverId, new TreeMap<>(complete))) {
                complete.clear();
            }
        } catch (RuntimeException e) {
            reportNs = nowNs + AFTER_FAILURE_NS;
            errors.report("storing that server " + serverId + " holds complete replicas", e);
        }
    }
}
