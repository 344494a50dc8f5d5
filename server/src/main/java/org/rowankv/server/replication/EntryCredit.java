package org.rowankv.server.replication;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.rowankv.protocol.Version;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.shard.Roles;

/**
 * The space of one entry at its backups, from before it has a version until it is sent, across changes of the roles.
 * Has the owner of its replicator.
 *
 * <p>An error may strike in any step: then space may stay reserved, but is never used that a backup did not grant.
 */
final class EntryCredit {
    private final RowanReplicator replicator;
    private final BackupCredit credit;
    /** By server: bytes acquired or owed for the entry. */
    private final long[] paid;
    /** Whose incarnations were paid. */
    private Roles paidUnder;
    /** Credit was acquired for the entry. Others have none: copies, and what is without space. */
    private boolean isAcquired;

    EntryCredit(RowanReplicator replicator, BackupCredit credit, Roles roles) {
        this.replicator = replicator;
        this.credit = credit;
        this.paid = new long[roles.serverCount()];
        this.paidUnder = roles;
    }

    /** −1 when granted, otherwise a backup without credit; then nothing is held. */
    int acquire(Roles now, int shard, int usedLength) {
        forget();
        final long bytes = replicator.creditOf(usedLength);
        final int[] servers = replicator.setOf(now, shard);
        final int lacking = credit.acquire(servers, bytes);
        if (lacking < 0) {
            for (int server : servers) {
                paid[server] = bytes;
            }
            paidUnder = now;
            isAcquired = true;
        }
        return lacking;
    }

    /** What was paid is used, or is that of an entry before. */
    private void forget() {
        isAcquired = false;
        Arrays.fill(paid, 0);
    }

    /** Keeps for other entries what was granted for one that is not written. */
    void release(Roles now) {
        for (int server = 0; server < paid.length; server++) {
            keep(now, server);
        }
        isAcquired = false;
    }

    /**
     * The entry begins, maybe again after an error. Other roles may have come into force since its credit was acquired:
     * what is not used is kept, and what is missing is owed. A joining backup takes the space of an entry from before its
     * tenure by itself: also of one that was admitted in these roles, before the version counter followed them.
     */
    void settle(Roles now, ByteBuffer entry, int at) {
        if ((EntryDescriptor.flags(entry, at) & EntryDescriptor.WITHOUT_SPACE) != 0) {
            forget();
        }
        final int shard = EntryDescriptor.shard(entry, at);
        if (!isAcquired || paidUnder == now && now.joining(shard).length == 0) {
            return;
        }
        for (int server = 0; server < paid.length; server++) {
            keepUnlessCounted(now, server, entry, at);
        }
        final long bytes = replicator.creditOf(EntryDescriptor.usedLength(entry, at));
        for (int server : replicator.setOf(now, shard)) {
            if (paid[server] == 0 && isCounted(now, server, entry, at)) {
                credit.owe(server, bytes);
                paid[server] = bytes;
            }
        }
        paidUnder = now;
    }

    /** Other roles replace those in which the entry began. Requires that nothing of it was sent to that server. */
    void keepUnlessCounted(Roles next, int server, ByteBuffer entry, int at) {
        if (paidUnder.incarnation(server) != next.incarnation(server) || !isCounted(next, server, entry, at)) {
            keep(next, server);
        }
    }

    /** Whether that server is a backup that reckons on credit for the entry. */
    private boolean isCounted(Roles roles, int server, ByteBuffer entry, int at) {
        final int shard = EntryDescriptor.shard(entry, at);
        return replicator.isInSet(roles, shard, server)
                && Version.epoch(EntryDescriptor.version(entry, at)) >= roles.tenure(shard, server);
    }

    /** Keeps for other entries what that server granted in its present incarnation. */
    private void keep(Roles now, int server) {
        final long bytes = paid[server];
        if (bytes > 0) {
            paid[server] = 0; // first: an error may strike in between
            if (paidUnder.incarnation(server) == now.incarnation(server)) {
                credit.put(server, bytes);
            }
        }
    }
}
