package org.rowankv.server.dispatch;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;

/**
 * How the slots of one event loop are shared. Mutations that wait for a dead backup end only after its exclusion, and
 * before they are written it is unknown which backup they wait for: for a lock, for space. So every set of backups of
 * the shards served here has its share of half of the slots, which no other set takes; the other half is for all. A
 * loop with fewer slots than sets keeps none.
 *
 * <p>For one thread; allocates only for new roles.
 */
final class SlotShares {
    private static final int UNUSED = -1;
    /** The set of shards that are not served here: without a share. */
    private static final int OTHERS = 0;

    /** By slot: the shard of its mutation. */
    private final int[] shards;

    private int unused;

    private @Nullable Roles known;
    /** By shard. */
    private int[] setOf = {};
    /** By set. */
    private int[] held = {};

    private int share;
    /** What sets that hold less than their share may still take; ≤ {@link #unused}, but right after new roles. */
    private int kept;

    SlotShares(int slots) {
        this.shards = new int[slots];
        this.unused = slots;
        Arrays.fill(shards, UNUSED);
    }

    /** Whether a mutation of the shard may begin, as far as other sets of backups are concerned. */
    boolean hasFor(Roles roles, int shard) {
        if (roles != known) {
            learn(roles);
        }
        final int set = setOf[shard];
        return isShort(set) || unused > kept;
    }

    private boolean isShort(int set) {
        return set != OTHERS && held[set] < share;
    }

    private void learn(Roles roles) {
        known = roles;
        setOf = new int[roles.shardCount()];
        final Map<BitSet, Integer> sets = new HashMap<>();
        for (ShardPrimary primary : roles.primaries()) {
            final int shard = primary.replica().shardId();
            final BitSet backups = new BitSet();
            for (int backup : roles.backups(shard)) {
                backups.set(backup);
            }
            sets.putIfAbsent(backups, 1 + sets.size());
            setOf[shard] = sets.get(backups);
        }
        share = shards.length < sets.size() ? 0 : Math.max(1, shards.length / 2 / Math.max(1, sets.size()));
        kept = share * sets.size();
        held = new int[1 + sets.size()];
        unused = shards.length;
        for (int slot = 0; slot < shards.length; slot++) {
            if (shards[slot] != UNUSED) {
                take(slot, shards[slot]);
            }
        }
    }

    /** After {@link #hasFor} for the same shard. */
    void take(int slot, int shard) {
        shards[slot] = shard;
        final int set = setOf[shard];
        if (isShort(set)) {
            kept--;
        }
        held[set]++;
        unused--;
    }

    /** The slot's mutation is complete, or has never begun. */
    void free(int slot) {
        if (shards[slot] == UNUSED) {
            return;
        }
        final int set = setOf[shards[slot]];
        shards[slot] = UNUSED;
        held[set]--;
        unused++;
        if (isShort(set)) {
            kept++;
        }
    }
}
