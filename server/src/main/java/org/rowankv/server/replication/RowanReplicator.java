package org.rowankv.server.replication;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
import org.rowankv.server.log.BlockDescriptor;
import org.rowankv.server.log.Charge;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;

/**
 * Replication through Rowan (§4.1 of the paper): the entry is appended one-sided to the single backup log of every
 * backup, which takes no part. An entry larger than the fabric's messages goes as blocks. Owned by one worker.
 */
public final class RowanReplicator implements Replicator, CompletionHandler {
    private static final int SERVER_BITS = 8;
    private static final int NUMBER_BITS = 12;
    private static final int RESTART_BITS = 16;
    private static final int ATTEMPT_BITS = Long.SIZE - RESTART_BITS - NUMBER_BITS - SERVER_BITS;

    /** Credit is drawn in portions of this size, so that a shared counter is touched once for many entries. */
    private static final int PORTION = 32 << 10;

    private final MemoryRegion region;
    private final BackupConnections links;
    private final BackupSets backupSets;
    private final int maxMessage;
    private final int segmentLength;
    private final int[] epochs;
    private final EntryCheck check;
    private final ByteBuffer staging;
    private final long[] credit;
    /** By server: whether the answer to the last draw is not there yet. */
    private final boolean[] awaitsCredit;
    /** By server: whether a portion was refused, and no more than is needed is asked for. */
    private final boolean[] exactCreditOnly;

    private final List<OneEntry> entries = new ArrayList<>();
    private final long firstAttempt;

    /**
     * @param segmentLength of this server's area and of the backups'
     * @param epochs of the shards: at or after the beginning of every backup's tenure
     */
    public RowanReplicator(
            MemoryRegion region,
            BackupConnections links,
            BackupSets backupSets,
            int serverCount,
            int maxMessage,
            int segmentLength,
            int[] epochs) {
        this(region, links, backupSets, serverCount, maxMessage, segmentLength, epochs, CounterStarts.USUAL);
    }

    /** @param counters where attempts begin */
    public RowanReplicator(
            MemoryRegion region,
            BackupConnections links,
            BackupSets backupSets,
            int serverCount,
            int maxMessage,
            int segmentLength,
            int[] epochs,
            CounterStarts counters) {
        this.firstAttempt = counters.of(0L, 1L << ATTEMPT_BITS);
        this.region = region;
        this.links = links;
        this.backupSets = backupSets;
        this.maxMessage = maxMessage;
        this.segmentLength = segmentLength;
        this.epochs = epochs.clone();
        this.check = new EntryCheck(region);
        this.staging = ByteBuffer.allocateDirect(maxMessage + EntryDescriptor.STRIDE)
                .alignedSlice(EntryDescriptor.STRIDE)
                .order(ByteOrder.LITTLE_ENDIAN);
        this.credit = new long[serverCount];
        this.awaitsCredit = new boolean[serverCount];
        this.exactCreditOnly = new boolean[serverCount];
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
        for (int server = 0; server < credit.length; server++) {
            final QueuePair pair = links.last(server);
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

    /** One entry on its way to the backups. */
    private final class OneEntry implements Replication {
        private final int number;
        private int shard;
        private long address;
        private int length;
        private int bodyLength;
        /** In a context its lower bits, which come round: one attempt is under way at a time. */
        private long attempt = firstAttempt;

        private final int[] sent = new int[credit.length];
        private final int[] outstanding = new int[credit.length];
        /** Of the messages that the entry goes in, how many landed before the first that did not: for good, since links lead to one incarnation. */
        private final int[] landed = new int[credit.length];

        private final boolean[] failed = new boolean[credit.length];
        /** A message is being handed over: it may have landed, and is not counted as sent yet. */
        private final boolean[] sending = new boolean[credit.length];
        /** Sends nothing before all that was counted as sent is acknowledged, and then begins again behind it. */
        private final boolean[] draining = new boolean[credit.length];

        private final long[] restarts = new long[credit.length];
        private final @Nullable QueuePair[] used = new @Nullable QueuePair[credit.length];

        OneEntry(int number) {
            this.number = number;
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
            for (int server : backupSets.of(shardId)) {
                sent[server] = 0;
                outstanding[server] = 0;
                landed[server] = 0;
                failed[server] = false;
                sending[server] = false;
                draining[server] = false;
            }
        }

        @Override
        public void interrupted() {
            for (int server : backupSets.of(shard)) {
                if (sending[server]) {
                    // An acknowledgement of the message that is not counted could be taken for that of the next.
                    draining[server] = true;
                    sending[server] = false;
                }
            }
        }

        @Override
        public void acknowledgementsLost() {
            for (int server : backupSets.of(shard)) {
                if (!isComplete(server)) {
                    failed[server] = true; // what comes now could be counted for a message before it
                }
            }
        }

        private boolean isComplete(int server) {
            return sent[server] == bodyLength && outstanding[server] == 0 && !failed[server] && !draining[server];
        }

        @Override
        public boolean advance() {
            boolean complete = true;
            for (int server : backupSets.of(shard)) {
                complete &= advance(server);
            }
            return complete;
        }

        private boolean advance(int server) {
            if (isComplete(server)) {
                return true;
            }
            final QueuePair pair = links.pair(server);
            if (pair == null) {
                return false;
            }
            if (pair != used[server]) {
                // The completions of what went through another connection do not come any more.
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
                    // Begin again behind what is known to have landed: were all blocks sent once more each time, their
                    // copies, which nobody can clean before the entry is committed, would fill the backup. Completions
                    // of what was sent behind that count nothing any more.
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
            return (int) Math.min(bodyLength, (long) landed[server] * (maxMessage - BlockDescriptor.PAYLOAD_OFFSET));
        }

        private boolean refused(int server, int status) {
            switch (status) {
                case PostStatus.RECEIVER_NOT_READY -> links.notReady(server);
                case PostStatus.FENCED, PostStatus.UNREACHABLE -> {
                    failed[server] = true;
                    links.drop(server);
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
            final int tag = epochs[shard];
            sending[server] = true;
            if (length <= maxMessage) {
                final int status =
                        pair.send(contextOf(server), region.buffer(address), region.offset(address), length, tag);
                return posted(server, status, bodyLength);
            }
            final int payload = Math.min(maxMessage - BlockDescriptor.PAYLOAD_OFFSET, bodyLength - start);
            final int blockLength = writeBlock(start, payload);
            return posted(server, pair.send(contextOf(server), staging, 0, blockLength, tag), start + payload);
        }

        private int posted(int server, int status, int sentUpTo) {
            if (status == PostStatus.POSTED) {
                sent[server] = sentUpTo;
                outstanding[server]++;
            }
            sending[server] = false;
            return status;
        }

        private int writeBlock(int start, int payload) {
            final ByteBuffer entry = region.buffer(address);
            final int at = region.offset(address);
            final int perBlock = maxMessage - BlockDescriptor.PAYLOAD_OFFSET;
            BlockDescriptor.header(
                    staging,
                    0,
                    EntryDescriptor.version(entry, at),
                    EntryDescriptor.flags(entry, at) & EntryDescriptor.WITHOUT_SPACE,
                    shard,
                    bodyLength,
                    start,
                    payload,
                    FrameDescriptor.bodyCrc(entry, at),
                    (bodyLength + perBlock - 1) / perBlock,
                    FrameDescriptor.type(FrameDescriptor.wordPlain(entry, at)));
            staging.put(BlockDescriptor.PAYLOAD_OFFSET, entry, at + EntryDescriptor.FRAME_LENGTH + start, payload);
            final int used = BlockDescriptor.PAYLOAD_OFFSET + payload;
            final int crc = check.crc(staging, EntryDescriptor.FRAME_LENGTH, used - EntryDescriptor.FRAME_LENGTH);
            final int blockLength = EntryDescriptor.aligned(used);
            FrameDescriptor.source(staging, 0, blockLength, org.rowankv.server.log.EntryType.BLOCK, crc);
            return blockLength;
        }

        void completed(int server, long context, int status) {
            if (context != contextOf(server)) {
                return; // of an attempt that was given up
            }
            // Counted last: an error may strike in between, and must not make it look complete.
            if (status != CompletionStatus.LANDED) {
                failed[server] = true;
            } else if (!failed[server]) {
                landed[server]++;
            }
            outstanding[server]--;
        }
    }

    /**
     * What an entry takes at a backup, exactly: a large one for a while twice, as blocks and put together.
     *
     * @param usedLength without padding
     */
    public long creditOf(int usedLength) {
        final int entryLength = EntryDescriptor.aligned(usedLength);
        final int charge = Charge.of(entryLength, segmentLength);
        if (entryLength <= maxMessage) {
            return charge;
        }
        final int perBlock = maxMessage - BlockDescriptor.PAYLOAD_OFFSET;
        final int body = usedLength - EntryDescriptor.FRAME_LENGTH;
        final int fullBlocks = body / perBlock;
        final int rest = body % perBlock;
        final int lastBlock = rest == 0 ? 0 : EntryDescriptor.aligned(BlockDescriptor.PAYLOAD_OFFSET + rest);
        return charge
                + (long) fullBlocks * Charge.of(maxMessage, segmentLength)
                + (rest == 0 ? 0 : Charge.of(lastBlock, segmentLength));
    }

    @Override
    public int acquireCredit(int shardId, int usedLength) {
        final int[] servers = backupSets.of(shardId);
        final long wanted = creditOf(usedLength);
        for (int i = 0; i < servers.length; i++) {
            final int server = servers[i];
            if (credit[server] < wanted && !drawFrom(server, wanted)) {
                for (int j = 0; j < i; j++) {
                    credit(servers[j], wanted);
                }
                return server;
            }
            credit[server] -= wanted;
        }
        return -1;
    }

    private boolean drawFrom(int server, long wanted) {
        final @Nullable QueuePair pair = links.pair(server);
        if (pair == null) {
            awaitsCredit[server] = true;
            return false;
        }
        if (!exactCreditOnly[server]) {
            credit[server] += pair.acquireCredit(wanted - credit[server] + PORTION);
            awaitsCredit[server] = pair.awaitsCredit();
            if (credit[server] >= wanted) {
                return true;
            }
            if (awaitsCredit[server]) {
                return false;
            }
            exactCreditOnly[server] = true; // there is no room for a portion; for the entry there may be
        }
        credit[server] += pair.acquireCredit(wanted - credit[server]);
        awaitsCredit[server] = pair.awaitsCredit();
        final boolean granted = credit[server] >= wanted;
        exactCreditOnly[server] = !granted && awaitsCredit[server];
        if (!granted && !awaitsCredit[server]) {
            links.countCreditRefusal();
        }
        return granted;
    }

    @Override
    public boolean awaitsCredit(int server) {
        return awaitsCredit[server];
    }

    @Override
    public void giveBackCredit(int shardId, int usedLength) {
        for (int server : backupSets.of(shardId)) {
            credit(server, creditOf(usedLength));
        }
    }

    @Override
    public void releaseCredit() {
        for (int server = 0; server < credit.length; server++) {
            // Also where nothing is held: what was asked for may have been granted since. What came with
            // a connection that broke is held for this worker until somebody says so; a worker at rest makes no other.
            final QueuePair pair = credit[server] > 0 ? links.pair(server) : links.last(server);
            if (pair != null) {
                pair.giveBackCredit(credit[server]);
                credit[server] = 0;
            }
        }
    }

    @Override
    public void releaseSpareCredit() {
        for (int server = 0; server < credit.length; server++) {
            final QueuePair pair = credit[server] > 0 && !awaitsCredit[server] ? links.pair(server) : null;
            if (pair != null) {
                pair.giveBackCredit(credit[server]);
                credit[server] = 0;
            }
        }
    }

    /** Keeps credit for the next entries, but not more than others may need. */
    private void credit(int server, long bytes) {
        credit[server] += bytes;
        final QueuePair pair = credit[server] > 2 * PORTION ? links.pair(server) : null;
        if (pair != null) {
            pair.giveBackCredit(credit[server] - PORTION);
            credit[server] = PORTION;
        }
    }

    @Override
    public void close() {
        links.close();
    }
}
