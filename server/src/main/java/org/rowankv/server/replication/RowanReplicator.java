package org.rowankv.server.replication;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.CompletionHandler;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.server.log.Charge;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;

/**
 * Replication through Rowan (§4.1 of the paper): a one-sided append of the entry to every backup's single backup log,
 * without work by the backup. An entry larger than the fabric's messages is sent as blocks. Owned by one worker.
 *
 * <p>An entry goes to the backups of the roles in force when it begins. When other roles are in force before it is
 * complete, it goes to every backup of these: a backup that left is not awaited, and nothing counts that another
 * incarnation of a backup has acknowledged. An entry whose shard has another primary by then is sent nowhere any more,
 * and is never complete: those backups acknowledge to that primary.
 */
public final class RowanReplicator implements Replicator, CompletionHandler {
    private static final int SERVER_BITS = 8;
    private static final int NUMBER_BITS = 12;
    private static final int RESTART_BITS = 16;
    private static final int ATTEMPT_BITS = Long.SIZE - RESTART_BITS - NUMBER_BITS - SERVER_BITS;

    private static final Recipients BACKUPS = Roles::backups;

    private final MemoryRegion region;
    private final BackupConnections connections;
    private final CurrentRoles current;
    private final Recipients recipients;
    /** Adopted last. */
    private Roles roles;

    private final int maxMessage;
    private final int segmentLength;
    private final EntryBlocks blocks;
    private final BackupCredit credit;
    private final int serverCount;

    private final List<OneEntry> entries = new ArrayList<>();
    private final long firstAttempt;

    /**
     * @param current the epoch of a shard there is at or after the beginning of the tenure of every backup there
     * @param segmentLength of this server's area and of the backups'
     * @param counters initial attempt numbers
     */
    public RowanReplicator(
            MemoryRegion region,
            BackupConnections connections,
            CurrentRoles current,
            int maxMessage,
            int segmentLength,
            CounterStarts counters) {
        this(region, connections, current, BACKUPS, maxMessage, segmentLength, counters);
    }

    /** Replicates to the recipients only. Other parameters as above. */
    public static RowanReplicator to(
            Recipients recipients,
            MemoryRegion region,
            BackupConnections connections,
            CurrentRoles current,
            int maxMessage,
            int segmentLength) {
        return new RowanReplicator(
                region, connections, current, recipients, maxMessage, segmentLength, CounterStarts.USUAL);
    }

    /** Selects the backups of a shard that an entry goes to. */
    @FunctionalInterface
    public interface Recipients {
        /** The same for the same roles; not modified. */
        int[] of(Roles roles, int shard);
    }

    private RowanReplicator(
            MemoryRegion region,
            BackupConnections connections,
            CurrentRoles current,
            Recipients recipients,
            int maxMessage,
            int segmentLength,
            CounterStarts counters) {
        this.firstAttempt = counters.of(0L, 1L << ATTEMPT_BITS);
        this.region = region;
        this.connections = connections;
        this.current = current;
        this.recipients = recipients;
        this.roles = current.get();
        connections.adopt(roles); // they may be older than this
        this.maxMessage = maxMessage;
        this.segmentLength = segmentLength;
        this.blocks = new EntryBlocks(region, maxMessage, segmentLength);
        this.serverCount = roles.serverCount();
        this.credit = new BackupCredit(connections, serverCount);
    }

    /** The roles in force, after what belongs to former incarnations is dropped. */
    private Roles adopted() {
        final Roles now = current.get();
        if (now != roles) {
            adopt(now);
        }
        return now;
    }

    private void adopt(Roles next) {
        connections.adopt(next);
        for (int server = 0; server < serverCount; server++) {
            if (next.incarnation(server) != roles.incarnation(server)) {
                credit.forget(server);
            }
        }
        roles = next;
    }

    int[] setOf(Roles ofRoles, int shard) {
        return recipients.of(ofRoles, shard);
    }

    boolean isInSet(Roles ofRoles, int shard, int server) {
        for (int each : setOf(ofRoles, shard)) {
            if (each == server) {
                return true;
            }
        }
        return false;
    }

    @Override
    public Replication newReplication() {
        if (entries.size() == 1 << NUMBER_BITS) {
            throw new IllegalStateException(entries.size() + " entries at once");
        }
        final OneEntry entry = new OneEntry(entries.size());
        entries.add(entry);
        return entry;
    }

    @Override
    public void poll() {
        for (int server = 0; server < serverCount; server++) {
            final QueuePair pair = connections.last(server);
            if (pair != null) {
                pair.poll(this, Integer.MAX_VALUE);
            }
        }
    }

    @Override
    public void onCompletion(long context, int status) {
        final int server = (int) (context & (1 << SERVER_BITS) - 1);
        entries.get((int) (context >>> SERVER_BITS) & (1 << NUMBER_BITS) - 1).completed(server, context, status);
    }

    /** The replication of one entry. */
    private final class OneEntry implements Replication {
        private final int number;
        /** Those that its set and its tag are of, and the incarnations of what landed. */
        private Roles sentUnder = roles;
        /** Null if this server is not the shard's primary. */
        private @Nullable ShardPrimary primary;

        private int shard;
        private long address;
        private int length;
        private int bodyLength;
        /** A context holds its lower bits, which wrap: one attempt is in flight at a time. */
        private long attempt = firstAttempt;

        private final int[] sent = new int[serverCount];
        private final int[] outstanding = new int[serverCount];
        /**
         * Messages of the entry that landed before the first one that did not; {@code landed ≤} messages posted. Final
         * for one incarnation of the server: another one may hold none of them.
         */
        private final int[] landed = new int[serverCount];

        private final boolean[] failed = new boolean[serverCount];
        /** A message is being posted: it may have landed, and {@code sent} does not include it yet. */
        private final boolean[] sending = new boolean[serverCount];
        /** Posts nothing until all counted messages are acknowledged, then resumes after them. */
        private final boolean[] draining = new boolean[serverCount];

        private final long[] restarts = new long[serverCount];
        private final @Nullable QueuePair[] used = new @Nullable QueuePair[serverCount];

        /** Something of the entry was posted there since it began. */
        private final boolean[] mayHaveLanded = new boolean[serverCount];

        private final EntryCredit ownCredit = new EntryCredit(RowanReplicator.this, credit, roles);

        OneEntry(int number) {
            this.number = number;
        }

        @Override
        public int acquireCredit(int shardId, int usedLength) {
            return ownCredit.acquire(adopted(), shardId, usedLength);
        }

        @Override
        public void returnCredit() {
            ownCredit.release(adopted());
        }

        @Override
        public void begin(int shardId, long entryAddress) {
            final ByteBuffer buffer = region.buffer(entryAddress);
            final int at = region.offset(entryAddress);
            shard = shardId;
            address = entryAddress;
            length = FrameDescriptor.length(FrameDescriptor.wordPlain(buffer, at));
            bodyLength = length <= maxMessage
                    ? length
                    : EntryDescriptor.usedLength(buffer, at) - EntryDescriptor.FRAME_LENGTH;
            attempt++;
            sentUnder = adopted();
            primary = sentUnder.find(shardId);
            ownCredit.settle(sentUnder, buffer, at);
            for (int server : setOf(sentUnder, shardId)) {
                sent[server] = 0;
                outstanding[server] = 0;
                landed[server] = 0;
                failed[server] = false;
                sending[server] = false;
                draining[server] = false;
                mayHaveLanded[server] = false;
            }
        }

        @Override
        public void interrupted() {
            for (int server : setOf(sentUnder, shard)) {
                if (sending[server]) {
                    // The acknowledgement of the uncounted message could be taken for that of the next.
                    draining[server] = true;
                    mayHaveLanded[server] = true;
                    sending[server] = false;
                }
            }
        }

        @Override
        public void acknowledgementsLost() {
            for (int server : setOf(sentUnder, shard)) {
                if (!isComplete(server)) {
                    failed[server] = true; // a later acknowledgement could be counted for an earlier message
                }
            }
        }

        private boolean isComplete(int server) {
            return sent[server] == bodyLength && outstanding[server] == 0 && !failed[server] && !draining[server];
        }

        @Override
        public boolean advance() {
            final Roles now = adopted();
            if (recipients.equals(BACKUPS) && (primary == null || !now.has(primary))) {
                return false;
            }
            if (now != sentUnder) {
                follow(now);
            }
            boolean complete = true;
            for (int server : setOf(sentUnder, shard)) {
                complete &= advance(server);
            }
            return complete;
        }

        /** Goes on to the backups of other roles. What a stranger to the former roles has acknowledged counts nothing. */
        private void follow(Roles next) {
            // Unseen roles may lie in between: a backup that left and came back has voided what it had. Each change of
            // the set is an epoch.
            final boolean mayHaveLeft = next.epoch(shard) - sentUnder.epoch(shard) > 1;
            for (int server : setOf(sentUnder, shard)) {
                if (!mayHaveLanded[server] && !sending[server]) {
                    ownCredit.keepUnlessCounted(next, server, region.buffer(address), region.offset(address));
                }
            }
            for (int server : setOf(next, shard)) {
                if (!isInSet(sentUnder, shard, server)
                        || sentUnder.incarnation(server) != next.incarnation(server)
                        || mayHaveLeft) {
                    landed[server] = 0;
                    sending[server] = false;
                    draining[server] = false;
                    failed[server] = true; // all is sent again
                }
            }
            sentUnder = next;
        }

        private boolean advance(int server) {
            if (isComplete(server)) {
                return true;
            }
            final QueuePair pair = connections.pair(server);
            if (pair == null) {
                return false;
            }
            if (pair != used[server]) {
                // Completions of the previous connection are lost.
                failed[server] = true; // first: an error may strike in between
                used[server] = pair;
            }
            if (draining[server]) {
                if (outstanding[server] > 0 && !failed[server]) {
                    return false;
                }
                failed[server] = true;
                draining[server] = false;
            }
            while (true) {
                if (failed[server]) {
                    // Resume after what is known to have landed. Sending all blocks again each time would fill the
                    // backup with copies that cannot be cleaned before the entry is committed. Completions of the
                    // previous attempt no longer count.
                    restarts[server]++;
                    sent[server] = landedBody(server);
                    outstanding[server] = 0;
                    failed[server] = false; // last: an error may strike in between
                }
                if (sent[server] == bodyLength) {
                    return outstanding[server] == 0;
                }
                final int status = sendNext(pair, server);
                if (status != PostStatus.POSTED) {
                    return refused(server, status);
                }
            }
        }

        private int landedBody(int server) {
            if (length <= maxMessage) {
                return landed[server] > 0 ? bodyLength : 0;
            }
            return (int) Math.min(bodyLength, (long) landed[server] * blocks.perBlock());
        }

        private boolean refused(int server, int status) {
            switch (status) {
                case PostStatus.RECEIVER_NOT_READY -> connections.notReady(server);
                case PostStatus.FENCED, PostStatus.UNREACHABLE -> {
                    failed[server] = true;
                    connections.drop(server);
                }
                case PostStatus.QUEUE_FULL -> {}
                default -> throw new AssertionError("send refused: " + PostStatus.name(status));
            }
            return false;
        }

        private long contextOf(int server) {
            return attempt << 36 | (restarts[server] & 0xffff) << 20 | (long) number << SERVER_BITS | server;
        }

        private int sendNext(QueuePair pair, int server) {
            final int start = sent[server];
            final int tag = sentUnder.epoch(shard);
            sending[server] = true;
            if (length <= maxMessage) {
                final int status =
                        pair.send(contextOf(server), region.buffer(address), region.offset(address), length, tag);
                return posted(server, status, bodyLength);
            }
            final int payload = Math.min(blocks.perBlock(), bodyLength - start);
            final int blockLength = blocks.write(address, shard, bodyLength, start, payload);
            return posted(server, pair.send(contextOf(server), blocks.block(), 0, blockLength, tag), start + payload);
        }

        private int posted(int server, int status, int sentUpTo) {
            if (status == PostStatus.POSTED) {
                mayHaveLanded[server] = true;
                sent[server] = sentUpTo;
                outstanding[server]++;
            }
            sending[server] = false;
            return status;
        }

        void completed(int server, long context, int status) {
            if (context != contextOf(server)) {
                return; // of an abandoned attempt
            }
            // Decremented last: an error in between must not make it look complete.
            if (status != CompletionStatus.LANDED) {
                failed[server] = true;
            } else if (!failed[server]) {
                landed[server]++;
            }
            outstanding[server]--;
        }
    }

    /**
     * The exact space of an entry at a backup: a large one counts twice for a while, as blocks and assembled.
     *
     * @param usedLength without padding
     */
    public long creditOf(int usedLength) {
        final int entryLength = EntryDescriptor.aligned(usedLength);
        final int charge = Charge.of(entryLength, segmentLength);
        return entryLength <= maxMessage ? charge : charge + blocks.credit(usedLength);
    }

    @Override
    public boolean awaitsCredit(int server) {
        return credit.isAwaited(server);
    }

    @Override
    public void releaseCredit() {
        adopted(); // an idle worker may have begun nothing in this term, and a server may have another incarnation
        credit.release();
    }

    @Override
    public void releaseSpareCredit() {
        adopted();
        credit.releaseSpare();
    }

    @Override
    public void close() {
        connections.close();
    }
}
