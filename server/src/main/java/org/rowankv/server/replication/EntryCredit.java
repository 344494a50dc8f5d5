package org.rowankv.server.replication;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Version;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.shard.Roles;

/**
 * The space of one entry at its backups, from before it has a version until it is sent, across changes of the roles.
 * Has the owner of its replicator.
 */
final class EntryCredit {
    private final RowanReplicator replicator;
    private final BackupCredit credit;
    /** Under which the credit of the entry that begins next was acquired; null: it has none. */
    private @Nullable Roles grantedUnder;
    /** Whether credit was acquired for the present entry or the next, unless it is without space. */
    private boolean isAcquired;

    EntryCredit(RowanReplicator replicator, BackupCredit credit) {
        this.replicator = replicator;
        this.credit = credit;
    }

    /** −1 when granted, otherwise a backup without credit; then nothing is held. */
    int acquire(Roles now, int shard, int usedLength) {
        final int lacking = credit.acquire(replicator.setOf(now, shard), replicator.creditOf(usedLength));
        isAcquired = lacking < 0;
        grantedUnder = isAcquired ? now : null;
        return lacking;
    }

    /** Keeps for other entries what was granted for one that is not written. */
    void release(Roles now, int shard, int usedLength) {
        final Roles granted = grantedUnder;
        grantedUnder = null;
        isAcquired = false;
        if (granted == null) {
            return;
        }
        for (int server : replicator.setOf(granted, shard)) {
            if (granted.incarnation(server) == now.incarnation(server)) {
                credit.put(server, replicator.creditOf(usedLength));
            }
        }
    }

    /**
     * The entry begins. Other roles may have come into force since its credit was acquired: what is not used is kept, and
     * what is missing is owed. A joining backup takes the space of an entry from before its tenure by itself: also of one
     * that was admitted in these roles, before the version counter followed them.
     */
    void settle(Roles now, ByteBuffer entry, int at) {
        final Roles before = grantedUnder;
        grantedUnder = null; // first: an entry whose beginning was interrupted begins again
        final int shard = EntryDescriptor.shard(entry, at);
        if (before == null || before == now && now.joining(shard).length == 0) {
            return;
        }
        final long bytes = bytesOf(entry, at);
        for (int server : replicator.setOf(before, shard)) {
            if (!replicator.isInSet(now, shard, server) && before.incarnation(server) == now.incarnation(server)) {
                credit.put(server, bytes);
            }
        }
        for (int server : replicator.setOf(now, shard)) {
            final boolean hasGranted =
                    replicator.isInSet(before, shard, server) && before.incarnation(server) == now.incarnation(server);
            final boolean counts = counts(now, server, entry, at);
            if (counts && !hasGranted) {
                credit.owe(server, bytes);
            } else if (hasGranted && !counts) {
                credit.put(server, bytes);
            }
        }
    }

    /**
     * Whether that backup of the former roles granted credit for the entry, and will not count it in those that replace
     * them. Requires that nothing of the entry was sent there.
     */
    boolean isSpare(Roles former, Roles next, int server, ByteBuffer entry, int at) {
        return isAcquired
                && (EntryDescriptor.flags(entry, at) & EntryDescriptor.WITHOUT_SPACE) == 0
                && former.incarnation(server) == next.incarnation(server)
                && counts(former, server, entry, at)
                && !counts(next, server, entry, at);
    }

    /** Keeps for other entries what that backup granted for this one. */
    void keep(int server, ByteBuffer entry, int at) {
        credit.put(server, bytesOf(entry, at));
    }

    /** Whether that backup reckons on credit for the entry. */
    private boolean counts(Roles roles, int server, ByteBuffer entry, int at) {
        final int tenure = roles.tenure(EntryDescriptor.shard(entry, at), server);
        return tenure > 0 && Version.epoch(EntryDescriptor.version(entry, at)) >= tenure;
    }

    private long bytesOf(ByteBuffer entry, int at) {
        return replicator.creditOf(EntryDescriptor.usedLength(entry, at));
    }
}
