package org.rowankv.server.resync;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.replication.BackupConnections;
import org.rowankv.server.replication.Replication;
import org.rowankv.server.replication.RowanReplicator;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Re-replication (§4.5 of the paper): the primary sends a replica that is catching up what it lacks of a shard, through
 * Rowan into that server's backup log, where it is digested like everything else. One shard after the other, to all
 * such replicas at once, at a bounded rate. Before the first shard, the space that all need is announced. Roles that
 * come into force meanwhile are taken up when nothing is left to copy.
 */
public final class CopyAgent implements Agent {
    private static final Logger LOG = LoggerFactory.getLogger(CopyAgent.class);
    private static final int BUCKETS_PER_TURN = 1024;
    private static final int BYTES_PER_TURN = 128 << 10;
    private static final int ENTRIES_PER_TURN = 256;
    private static final long SAY_EVERY_NS = 3_000_000_000L;

    private final int serverId;
    private final CurrentRoles current;
    /** Those by which it copies. */
    private Roles roles;

    private final Segments segments;
    private final Deque<ShardPrimary> toMeasure = new ArrayDeque<>();
    private final Deque<ShardPrimary> toDo = new ArrayDeque<>();
    private final BackupConnections connections;
    private final int maxMessage;
    private int shardsInAll;
    private @Nullable RowanReplicator replicator;
    private @Nullable Replication entry;
    /** Empty until there is something to copy. */
    private ByteBuffer staging = ByteBuffer.allocateDirect(0);

    private final CopyListener listener;
    private final Clock clock;
    private final long bytesPerSecond;

    private final long[] announced;
    private @Nullable CopySize size;
    private @Nullable CopySource source;
    private boolean staged;
    private boolean sending;
    private long allowance;
    private long allowedNs;
    private long beganNs;
    private long saidNs;
    private final OwnedCounter entries = new OwnedCounter();
    private final OwnedCounter bytes = new OwnedCounter();

    /**
     * @param connections exclusive to this agent
     * @param bytesPerSecond maximum copy rate
     */
    @SuppressWarnings("TooManyParameters")
    public CopyAgent(
            int serverId,
            CurrentRoles current,
            Segments segments,
            BackupConnections connections,
            int maxMessage,
            CopyListener listener,
            Clock clock,
            long bytesPerSecond) {
        this.serverId = serverId;
        this.current = current;
        this.roles = current.get();
        this.connections = connections;
        this.maxMessage = maxMessage;
        this.segments = segments;
        this.listener = listener;
        this.clock = clock;
        this.bytesPerSecond = bytesPerSecond;
        this.announced = new long[roles.shardCount()];
        this.allowedNs = clock.nanoTime();
        this.beganNs = allowedNs;
        this.saidNs = allowedNs;
        for (ShardPrimary primary : roles.primaries()) {
            if (roles.joining(primary.replica().shardId()).length > 0) {
                toDo.add(primary);
            }
        }
        begin();
    }

    private void begin() {
        toMeasure.addAll(toDo);
        shardsInAll = toDo.size();
        if (replicator == null && shardsInAll > 0) {
            staging = ByteBuffer.allocateDirect(segments.length() + EntryDescriptor.STRIDE)
                    .alignedSlice(EntryDescriptor.STRIDE)
                    .order(ByteOrder.LITTLE_ENDIAN);
            final RowanReplicator own = RowanReplicator.toJoining(
                    MemoryRegion.of(staging), connections, current, maxMessage, segments.length());
            replicator = own;
            entry = own.newReplication();
        }
    }

    /** Goes on to other roles: to copy are the shards with a joining replica that has not received a copy from here. */
    private void takeUp(Roles next) {
        for (ShardPrimary primary : next.primaries()) {
            final int shard = primary.replica().shardId();
            for (int server : next.joining(shard)) {
                if (!toDo.contains(primary) && !(roles.has(primary) && isSameReplica(next, shard, server))) {
                    toDo.add(primary);
                }
            }
        }
        roles = next;
        beganNs = clock.nanoTime();
        saidNs = beganNs;
        begin();
    }

    /** Whether a server joins that shard in those roles as in the present ones. */
    private boolean isSameReplica(Roles other, int shard, int server) {
        return roles.isJoining(shard, server)
                && other.isJoining(shard, server)
                && roles.incarnation(server) == other.incarnation(server);
    }

    @Override
    public String roleName() {
        return "copy";
    }

    @Override
    public int doWork() {
        if (toDo.isEmpty() && current.get() != roles) {
            takeUp(current.get());
        }
        final RowanReplicator own = replicator;
        final Replication copied = entry;
        if (toDo.isEmpty() || own == null || copied == null) {
            return 0;
        }
        if (!toMeasure.isEmpty()) {
            measure(toMeasure.element(), own);
            return 1;
        }
        allow();
        int count = 0;
        long sent = 0;
        while (!toDo.isEmpty() && allowance > 0 && sent < BYTES_PER_TURN && count < ENTRIES_PER_TURN) {
            final ShardPrimary primary = toDo.element();
            final int length = step(primary, own, copied);
            if (length < 0) {
                break; // it waits for another server
            }
            sent += length;
            count++;
        }
        say();
        return count;
    }

    private void measure(ShardPrimary primary, RowanReplicator own) {
        final int shard = primary.replica().shardId();
        CopySize measured = size;
        if (measured == null) {
            measured = new CopySize(segments, primary.replica(), roles.epoch(shard), own::creditOf);
            size = measured;
        }
        if (measured.advance(BUCKETS_PER_TURN)) {
            size = null;
            toMeasure.remove();
            announced[shard] = measured.bytes();
            for (int server : roles.joining(shard)) {
                listener.announced(shard, server, measured.bytes());
            }
        }
    }

    /** The allowance of a second expires with it. */
    private void allow() {
        final long nowNs = clock.nanoTime();
        final long sinceNs = Math.min(nowNs - allowedNs, 1_000_000_000L);
        final long more = sinceNs / 1000 * bytesPerSecond / 1_000_000;
        if (more > 0) {
            allowance = Math.min(allowance + more, bytesPerSecond);
            allowedNs = nowNs;
        }
    }

    /** Copies an entry, or ends the shard; bytes sent, or −1 when no progress is possible now. */
    private int step(ShardPrimary primary, RowanReplicator own, Replication copied) {
        final int shard = primary.replica().shardId();
        CopySource from = source;
        if (from == null) {
            from = new CopySource(segments, primary.replica(), roles.epoch(shard), staging);
            source = from;
        }
        if (!staged) {
            if (from.next() == 0) {
                endShard(shard);
                return 0;
            }
            staged = true;
            Chaos.point("copy.read");
        }
        if (!sending) {
            announced[shard] -= CopySize.spaceOf(staging, 0, own::creditOf);
            copied.begin(shard, 0);
            sending = true;
        }
        if (!copied.advance()) {
            own.poll();
            if (!copied.advance()) {
                return -1;
            }
        }
        sending = false;
        staged = false;
        final int used = EntryDescriptor.usedLength(staging, 0);
        allowance -= used;
        entries.add(1);
        bytes.add(used);
        return used;
    }

    private void endShard(int shard) {
        source = null;
        toDo.remove();
        final Roles now = current.get();
        for (int server : roles.joining(shard)) {
            if (isSameReplica(now, shard, server)) { // another incarnation lacks what was sent before it came
                listener.copied(shard, server, announced[shard]);
            }
        }
        if (toDo.isEmpty()) {
            LOG.info(
                    "server {}: {} shard(s) copied to joining servers, {} entries, {} bytes, {} ms",
                    serverId,
                    shardsInAll,
                    entries.get(),
                    bytes.get(),
                    (clock.nanoTime() - beganNs) / 1_000_000);
        }
    }

    private void say() {
        final long nowNs = clock.nanoTime();
        if (nowNs - saidNs >= SAY_EVERY_NS && !toDo.isEmpty()) {
            saidNs = nowNs;
            LOG.info(
                    "server {}: {} of {} shards copied to joining servers, {} entries, {} bytes",
                    serverId,
                    shardsInAll - toDo.size(),
                    shardsInAll,
                    entries.get(),
                    bytes.get());
        }
    }

    /** Entries copied so far. */
    public long entries() {
        return entries.get();
    }

    @Override
    public void onClose() {
        final RowanReplicator own = replicator;
        if (own != null) {
            own.close();
        }
    }
}
