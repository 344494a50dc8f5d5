package org.rowankv.server.resync;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.runtime.AlignedBuffers;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.replication.BackupConnections;
import org.rowankv.server.replication.Replication;
import org.rowankv.server.replication.RowanReplicator;
import org.rowankv.server.shard.CurrentRoles;

/**
 * The entries on their way to one joining server: at most {@link #ENTRIES}, in a buffer
 * that is used as a ring. They land in any order, and their places are reused in order. Used by one agent.
 *
 * <p>It holds what is copied while an acknowledgement is on its way: milliseconds, where processors are busy.
 */
final class CopyWindow {
    static final int ENTRIES = 1024;

    private static final int[] NONE = {};

    private final ByteBuffer buffer;
    private final RowanReplicator replicator;
    private final Replication[] replications = new Replication[ENTRIES];
    private final int[] offsets = new int[ENTRIES];
    private final int[] lengths = new int[ENTRIES];
    private final @Nullable ShardCopy[] copies = new @Nullable ShardCopy[ENTRIES];
    private final boolean[] landed = new boolean[ENTRIES];
    /** Of the oldest entry; the others follow, modulo. */
    private int first;

    private int count;
    /** Behind the newest entry in the buffer. */
    private int end;

    /**
     * @param connections for this alone, which closes them
     * @param server that is joining
     * @param entryLength of the longest entry, and bytes under way: after a broken connection all are sent again, into
     *     space that was not announced, so they must be few against the log of that server
     */
    CopyWindow(BackupConnections connections, CurrentRoles roles, int server, int maxMessage, int entryLength) {
        this.buffer = AlignedBuffers.allocate(entryLength, EntryDescriptor.STRIDE);
        final int[] only = {server};
        this.replicator = RowanReplicator.to(
                (inForce, shard) -> inForce.isJoining(shard, server) ? only : NONE,
                MemoryRegion.of(buffer),
                connections,
                roles,
                maxMessage,
                entryLength);
        for (int i = 0; i < ENTRIES; i++) {
            replications[i] = replicator.newReplication();
        }
    }

    ByteBuffer buffer() {
        return buffer;
    }

    /** The space of an entry where it lands. */
    long creditOf(int usedLength) {
        return replicator.creditOf(usedLength);
    }

    boolean isFull() {
        return count == ENTRIES;
    }

    /**
     * Takes the next entry of a shard into the window and posts it; its length, or {@link CopySource#END}, or {@link
     * CopySource#NO_ROOM} until others have landed.
     */
    int add(ShardCopy copy) {
        if (count == 0) {
            end = 0;
        }
        final CopySource source = copy.source(buffer);
        final int oldest = count == 0 ? 0 : offsets[first];
        final boolean wrapped = count > 0 && end <= oldest;
        int at = end;
        int length = source.next(at, (wrapped ? oldest : buffer.capacity()) - at);
        if (length == CopySource.NO_ROOM && !wrapped) {
            at = 0;
            length = source.next(0, oldest);
        }
        if (length <= 0) {
            return length;
        }
        Chaos.point("copy.read");
        final int slot = (first + count) % ENTRIES;
        offsets[slot] = at;
        lengths[slot] = length;
        copies[slot] = copy;
        landed[slot] = false;
        end = at + length;
        count++;
        copy.taken();
        replications[slot].begin(copy.shard(), at);
        final var unused = replications[slot].advance();
        return length;
    }

    /** Sends what is posted. */
    void send() {
        if (count > 0) {
            replicator.poll();
        }
    }

    /** Counts what has landed, and posts again what must be sent again; returns how many entries have landed. */
    int advance() {
        if (count == 0) {
            return 0;
        }
        replicator.poll();
        int progress = 0;
        for (int i = 0; i < count; i++) {
            final int slot = (first + i) % ENTRIES;
            final ShardCopy copy = copies[slot];
            if (!landed[slot] && replications[slot].advance()) {
                landed[slot] = true;
                if (copy != null) {
                    copy.landed(lengths[slot]);
                }
                progress++;
            }
        }
        while (count > 0 && landed[first]) {
            copies[first] = null;
            first = (first + 1) % ENTRIES;
            count--;
        }
        return progress;
    }

    /** What has not landed of a shard does not count any more. */
    void forget(ShardCopy copy) {
        for (int i = 0; i < count; i++) {
            final int slot = (first + i) % ENTRIES;
            if (copy.equals(copies[slot])) {
                copies[slot] = null;
                landed[slot] = true;
            }
        }
    }

    void close() {
        replicator.close();
    }
}
