package org.rowankv.server.opening;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.runtime.AlignedBuffers;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.replication.BackupConnections;
import org.rowankv.server.replication.Replication;
import org.rowankv.server.replication.RowanReplicator;
import org.rowankv.server.shard.CurrentRoles;

/**
 * Sends one backup what it lacks of the shards that are being opened, through Rowan into its backup log, where it is
 * digested like everything else. In batches: a slow backup delays only its own shards. Owned by the opening agent.
 *
 * <p>Also to joining backups: the copy of a shard brings no tombstones; and it brings nothing to a replica whose copy by
 * the former primary was complete.
 */
final class ScatterTarget {
    /** Entries under way at once. */
    private static final int MOST_ENTRIES = 64;

    private static final int[] NONE = {};

    /** An entry to send. */
    private record Task(ShardOpening opening, long version) {}

    /** An entry under way, or none. */
    private static final class Slot {
        private final Replication replication;
        private @Nullable ShardOpening opening;

        Slot(Replication replication) {
            this.replication = replication;
        }
    }

    private final int server;
    private final TailEntries entries;
    private final ByteBuffer staging;
    private final RowanReplicator replicator;
    private final List<Slot> slots = new ArrayList<>();
    private final Deque<Task> queue = new ArrayDeque<>();
    private int underWay;
    private int staged;
    private long sent;

    /** @param segmentLength of this server's area and of the backups': an entry is no longer */
    ScatterTarget(
            int server,
            TailEntries entries,
            Supplier<BackupConnections> connections,
            CurrentRoles roles,
            int maxMessage,
            int segmentLength) {
        this.server = server;
        this.entries = entries;
        this.staging = AlignedBuffers.allocate(segmentLength, EntryDescriptor.STRIDE);
        final int[] alone = {server};
        this.replicator = RowanReplicator.to(
                (present, shard) -> present.isBackup(shard, server) ? alone : NONE,
                MemoryRegion.of(staging),
                connections.get(),
                roles,
                maxMessage,
                segmentLength);
    }

    void add(ShardOpening opening, long version) {
        queue.add(new Task(opening, version));
    }

    /** Whether nothing is to be sent, or under way. */
    boolean isIdle() {
        return queue.isEmpty() && underWay == 0;
    }

    /** Whether an entry of that shard may still land without having been acknowledged. */
    boolean isSending(int shard) {
        for (Slot slot : slots) {
            if (slot.opening != null && slot.opening.shard() == shard) {
                return true;
            }
        }
        return false;
    }

    /** Entries that landed there. */
    long sent() {
        return sent;
    }

    int doWork() {
        if (isIdle()) {
            return 0;
        }
        int work = underWay == 0 ? stage() : 0;
        work += advance();
        replicator.poll();
        return work + advance();
    }

    private int advance() {
        int landed = 0;
        for (int i = 0; i < slots.size() && underWay > 0; i++) {
            final Slot slot = slots.get(i);
            final ShardOpening opening = slot.opening;
            if (opening != null && slot.replication.advance()) {
                slot.opening = null;
                underWay--;
                sent++;
                landed++;
                opening.landed(server);
            }
        }
        return landed;
    }

    /** Copies as many entries as fit, and begins to send them. */
    private int stage() {
        staged = 0;
        int done = 0;
        while (underWay < MOST_ENTRIES && !queue.isEmpty()) {
            final Task task = queue.element();
            if (!task.opening.isOver()) {
                final long address = entries.addressOf(task.opening.replica(), task.version);
                if (address == 0) {
                    throw new AssertionError("version " + task.version + " of shard " + task.opening.shard()
                            + " is not in the tail any more");
                }
                if (staged + entries.length(address) > staging.capacity()) {
                    return done;
                }
                begin(task, address);
            }
            queue.remove();
            done++;
        }
        return done;
    }

    private void begin(Task task, long address) {
        final int length = entries.length(address);
        staging.put(staged, entries.buffer(address), entries.offset(address), length);
        final Slot slot = freeSlot();
        slot.replication.begin(task.opening.shard(), staged);
        slot.opening = task.opening;
        underWay++;
        staged += length;
    }

    private Slot freeSlot() {
        for (Slot slot : slots) {
            if (slot.opening == null) {
                return slot;
            }
        }
        final Slot added = new Slot(replicator.newReplication());
        slots.add(added);
        return added;
    }

    void close() {
        replicator.close();
    }
}
