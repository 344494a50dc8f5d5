package org.rowankv.server.replication;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.CompletionHandler;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.log.CommitVector;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;

/**
 * Computes CommitVer of every shard whose primary this server is, and sends it to the backups through Rowan (§4.4 of
 * the paper), until they have acknowledged the last version. The only agent that computes it: it reads the counters
 * first and the in-flight window second.
 */
public final class CommitAgent implements Agent, CompletionHandler {
    private static final int LOCK_OWNER = (1 << 20) + 1;
    /** Every 15 ms, as in the paper. */
    private static final long INTERVAL_NS = 15_000_000;

    private final CurrentRoles current;
    /** As of this duty cycle. */
    private Roles roles;

    private final InFlightWindow inFlightWindow;
    private final BackupConnections connections;
    private final Clock clock;
    private final long[] smallest;
    /** By server and shard: {@code acknowledged ≤} CommitVer, by that server's present incarnation in the present epoch. */
    private final long[][] acknowledged;
    /**
     * By server, the content of the outstanding record only: an earlier one that did not land may have held shards that
     * this one has no room for.
     */
    private final int[][] recordShards;

    private final long[][] recordVersions;
    private final int[] recordCount;
    /** By server, the index of the primary that the next record begins with. */
    private final int[] nextPrimary;

    private final boolean[] outstanding;
    /** By server, the number of the last record sent, and its connection. */
    private final long[] sent;

    private final @Nullable QueuePair[] sentThrough;
    private final EntryDraft draft = new EntryDraft();
    private final byte[] pairs;
    private final ByteBuffer staging;
    private final int maxPairs;
    private long nextNs;
    private volatile boolean requested;
    private volatile boolean quiet;
    private final OwnedCounter lag = new OwnedCounter();

    public CommitAgent(
            CurrentRoles current,
            InFlightWindow inFlightWindow,
            BackupConnections connections,
            int maxMessage,
            Clock clock) {
        this.current = current;
        this.roles = current.get();
        final int serverCount = roles.serverCount();
        final int shardCount = roles.shardCount();
        this.inFlightWindow = inFlightWindow;
        this.connections = connections;
        this.clock = clock;
        this.smallest = new long[shardCount];
        this.acknowledged = new long[serverCount][shardCount];
        this.recordCount = new int[serverCount];
        this.nextPrimary = new int[serverCount];
        this.outstanding = new boolean[serverCount];
        this.sent = new long[serverCount];
        this.sentThrough = new @Nullable QueuePair[serverCount];
        this.maxPairs = Math.min((maxMessage - EntryDescriptor.FIXED_LENGTH) / CommitVector.length(1), shardCount);
        this.pairs = new byte[CommitVector.length(maxPairs)];
        this.recordShards = new int[serverCount][maxPairs];
        this.recordVersions = new long[serverCount][maxPairs];
        this.staging = ByteBuffer.allocateDirect(EntryDescriptor.aligned(EntryDescriptor.FIXED_LENGTH + pairs.length))
                .order(ByteOrder.LITTLE_ENDIAN);
        this.nextNs = clock.nanoTime();
    }

    @Override
    public String roleName() {
        return "commit";
    }

    @Override
    public int doWork() {
        final long nowNs = clock.nanoTime();
        if (nowNs - nextNs < 0 && !requested) {
            return 0;
        }
        requested = false;
        nextNs = nowNs + INTERVAL_NS;
        final Roles now = current.get();
        if (now != roles) {
            adopt(now);
        }
        computeCommitVersions();
        int sent = 0;
        for (int server = 0; server < outstanding.length; server++) {
            sent += sendNext(server);
        }
        quiet = sent == 0 && lag.get() == 0 && isAllAcknowledged();
        return sent;
    }

    /** Another incarnation, or a backup of another epoch, has acknowledged nothing. */
    private void adopt(Roles next) {
        for (int server = 0; server < outstanding.length; server++) {
            if (next.incarnation(server) != roles.incarnation(server)) {
                Arrays.fill(acknowledged[server], 0);
                outstanding[server] = false;
            }
        }
        for (int shard = 0; shard < smallest.length; shard++) {
            if (next.epoch(shard) != roles.epoch(shard)) {
                forget(shard);
            }
        }
        connections.adopt(next);
        roles = next;
    }

    private void forget(int shard) {
        for (int server = 0; server < outstanding.length; server++) {
            acknowledged[server][shard] = 0;
            for (int i = 0; i < recordCount[server]; i++) {
                if (recordShards[server][i] == shard) {
                    recordVersions[server][i] = 0; // an outstanding record acknowledges nothing of the new epoch
                }
            }
        }
    }

    private boolean isAllAcknowledged() {
        for (ShardPrimary primary : roles.primaries()) {
            final int shard = primary.replica().shardId();
            for (int backup : roles.backups(shard)) {
                if (outstanding[backup] || primary.replica().commitVersion() > acknowledged[backup][shard]) {
                    return false;
                }
            }
        }
        return true;
    }

    /**
     * Whether, at the last computation, CommitVer covered every version and every backup had acknowledged it. Any
     * thread.
     */
    public boolean isQuiet() {
        return quiet;
    }

    /** A caller waits: the next cycle computes at once. Any thread. */
    public void hurry() {
        requested = true;
    }

    private void computeCommitVersions() {
        Arrays.fill(smallest, Long.MAX_VALUE);
        for (ShardPrimary primary : roles.primaries()) {
            smallest[primary.replica().shardId()] = primary.versions().last();
        }
        Chaos.point("commit.counted");
        inFlightWindow.lower(smallest);
        long behind = 0;
        // Read again: after a long stop of this thread, the cycle's earlier reading would end leases that were renewed
        // meanwhile.
        final long leasesNs = clock.nanoTime();
        for (ShardPrimary primary : roles.primaries()) {
            final ShardReplica replica = primary.replica();
            behind += primary.versions().last() - smallest[replica.shardId()];
            replica.raiseCommitVersion(smallest[replica.shardId()]);
            replica.forgetDeletions(LOCK_OWNER);
            replica.changes().endLapsed(leasesNs);
        }
        lag.add(behind - lag.get());
    }

    /** Assigned versions that CommitVer did not cover at the last computation, over all shards. Any thread. */
    public long lag() {
        return lag.get();
    }

    private int sendNext(int server) {
        if (awaitsCompletion(server)) {
            return 0;
        }
        final List<ShardPrimary> primaries = roles.primaries();
        int count = 0;
        // Starts where the last record ended: round-robin, even if there is always more than one record holds.
        final int from = nextPrimary[server];
        for (int i = 0; i < primaries.size() && count < maxPairs; i++) {
            final int next = (from + i) % primaries.size();
            final ShardPrimary primary = primaries.get(next);
            final int shard = primary.replica().shardId();
            final long version = primary.replica().commitVersion();
            if (version > acknowledged[server][shard] && roles.isBackup(shard, server)) {
                nextPrimary[server] = next + 1;
                recordShards[server][count] = shard;
                recordVersions[server][count] = version;
                CommitVector.set(pairs, count++, shard, version);
            }
        }
        recordCount[server] = count;
        return count > 0 && send(server, count) ? 1 : 0;
    }

    /** Only its own completion acknowledges a record's content, and may take as long as a device. */
    private boolean awaitsCompletion(int server) {
        if (outstanding[server]) {
            final QueuePair pair = connections.pair(server);
            if (pair == null || pair != sentThrough[server]) {
                outstanding[server] = false; // its completion is lost
            } else {
                pair.poll(this, Integer.MAX_VALUE);
            }
        }
        return outstanding[server];
    }

    private boolean send(int server, int count) {
        final QueuePair pair = connections.pair(server);
        if (pair == null) {
            return false;
        }
        draft.begin(EntryType.COMMIT_VECTOR, 0, 0).value(pairs, 0, CommitVector.length(count));
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        final int crc = draft.writeBody(staging, 0);
        FrameDescriptor.source(staging, 0, length, EntryType.COMMIT_VECTOR, crc);
        sent[server]++;
        final int status = pair.send(contextOf(server), staging, 0, length, 0);
        if (status != PostStatus.POSTED) {
            if (status == PostStatus.RECEIVER_NOT_READY) {
                connections.countNotReady();
            }
            return false; // retried in the next cycle
        }
        sentThrough[server] = pair;
        outstanding[server] = true;
        pair.poll(this, Integer.MAX_VALUE);
        return true;
    }

    private long contextOf(int server) {
        return sent[server] << 8 | server;
    }

    @Override
    public void onCompletion(long context, int status) {
        final int server = (int) (context & 0xff);
        if (context != contextOf(server)) {
            return;
        }
        if (status == CompletionStatus.LANDED && outstanding[server]) {
            for (int i = 0; i < recordCount[server]; i++) {
                acknowledged[server][recordShards[server][i]] = recordVersions[server][i];
            }
        }
        outstanding[server] = false;
    }

    @Override
    public void onClose() {
        connections.close();
    }
}
