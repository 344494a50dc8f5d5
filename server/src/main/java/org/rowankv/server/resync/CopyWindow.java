package org.rowankv.server.resync;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.replication.BackupConnections;
import org.rowankv.server.replication.Replication;
import org.rowankv.server.replication.RowanReplicator;
import org.rowankv.server.shard.CurrentRoles;

/**
 * The entries on their way to one joining server: at most {@link #ENTRIES}, in a buffer that is used as a ring. They
 * land in any order, and their places are reused in order. Used by one agent.
 */
final class CopyWindow {
    static final int ENTRIES = 64;
    private static final int[] NONE = {};

    private final ByteBuffer buffer;
    private final RowanReplicator replicator;
    private final Replication[] replications = new Replication[ENTRIES];
    private final int[] offsets = new int[ENTRIES];
    private final int[] lengths = new int[ENTRIES];
    private final boolean[] landed = new boolean[ENTRIES];
    /** Of the oldest entry; the others follow, modulo. */
    private int first;

    private int count;
    /** Behind the newest entry in the buffer. */
    private int end;

    private long landedBytes;

    /**
     * @param connections for this alone, which closes them
     * @param server that is joining
     * @param entryLength of the longest entry
     */
    CopyWindow(BackupConnections connections, CurrentRoles roles, int server, int maxMessage, int entryLength) {
        this.buffer = ByteBuffer.allocateDirect(entryLength + EntryDescriptor.STRIDE)
                .alignedSlice(EntryDescriptor.STRIDE)
                .order(ByteOrder.LITTLE_ENDIAN);
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

    boolean isEmpty() {
        return count == 0;
    }

    boolean isFull() {
        return count == ENTRIES;
    }

    /**
     * Copies the next entry of a source into the window and begins to send it; its length, or {@link CopySource#END}, or
     * {@link CopySource#NO_ROOM} until others have landed.
     */
    int add(CopySource source, int shard) {
        if (count == 0) {
            end = 0;
        }
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
        landed[slot] = false;
        end = at + length;
        count++;
        replications[slot].begin(shard, at);
        return length;
    }

    /** Makes all progress that is possible now; returns how many entries have landed. */
    int advance() {
        landedBytes = 0;
        if (count == 0) {
            return 0;
        }
        int progress = advanceEach();
        replicator.poll();
        progress += advanceEach();
        while (count > 0 && landed[first]) {
            first = (first + 1) % ENTRIES;
            count--;
        }
        return progress;
    }

    /** The bytes of the entries that have landed in the last {@link #advance}. */
    long landedBytes() {
        return landedBytes;
    }

    private int advanceEach() {
        int progress = 0;
        for (int i = 0; i < count; i++) {
            final int slot = (first + i) % ENTRIES;
            if (!landed[slot] && replications[slot].advance()) {
                landed[slot] = true;
                landedBytes += lengths[slot];
                progress++;
            }
        }
        return progress;
    }

    /** Forgets what has not landed: it does not count any more. */
    void clear() {
        first = 0;
        count = 0;
        end = 0;
    }

    void close() {
        replicator.close();
    }
}
