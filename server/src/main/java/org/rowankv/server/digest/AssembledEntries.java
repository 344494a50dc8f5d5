package org.rowankv.server.digest;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The registry of assembled entries: if their sender restarts, all their blocks land again. By shard and in version
 * order, so that a record of CommitVer, which names many shards, costs what it removes and not what exists.
 *
 * <p>Owned by the thread of its {@link EntryAssembler}.
 */
final class AssembledEntries {
    /** With the type, since the record of a completion has the version of its entry. */
    record Key(int shard, long version, int type) {
        private static final Comparator<Key> BY_VERSION =
                Comparator.comparingLong(Key::version).thenComparingInt(Key::type);
    }

    /**
     * By shard, without boxes: records of CommitVer name all shards repeatedly. Null for a shard without any entry so
     * far.
     */
    private final List<@Nullable NavigableSet<Key>> byShard = new ArrayList<>();

    void add(Key key) {
        while (byShard.size() <= key.shard()) {
            byShard.add(null);
        }
        NavigableSet<Key> ofShard = byShard.get(key.shard());
        if (ofShard == null) {
            ofShard = new TreeSet<>(Key.BY_VERSION);
            byShard.set(key.shard(), ofShard);
        }
        ofShard.add(key);
    }

    private @Nullable NavigableSet<Key> of(int shard) {
        return shard < byShard.size() ? byShard.get(shard) : null;
    }

    boolean contains(Key key) {
        final NavigableSet<Key> ofShard = of(key.shard());
        return ofShard != null && ofShard.contains(key);
    }

    /** Forgets those of a shard up to a version. */
    void forget(int shard, long version) {
        final NavigableSet<Key> ofShard = of(shard);
        while (ofShard != null && !ofShard.isEmpty() && ofShard.first().version() <= version) {
            ofShard.pollFirst();
        }
    }

    int count() {
        return byShard.stream()
                .mapToInt(ofShard -> ofShard == null ? 0 : ofShard.size())
                .sum();
    }
}
