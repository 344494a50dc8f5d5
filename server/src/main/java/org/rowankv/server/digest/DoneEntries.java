package org.rowankv.server.digest;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * Entries that were whole once: should their sender begin again, all their blocks land once more. By shard and in the order of
 * versions, so that a record of CommitVer, which names many shards, costs what it removes and not what there is.
 *
 * <p>Owned by the thread of its {@link EntryAssembler}.
 */
final class DoneEntries {
    /** With the type, since the record of a completion has the version of the entry that it is about. */
    record Key(int shard, long version, int type) {
        private static final Comparator<Key> BY_VERSION =
                Comparator.comparingLong(Key::version).thenComparingInt(Key::type);
    }

    private final Map<Integer, NavigableSet<Key>> byShard = new HashMap<>();

    void add(Key key) {
        byShard.computeIfAbsent(key.shard(), shard -> new TreeSet<>(Key.BY_VERSION))
                .add(key);
    }

    boolean contains(Key key) {
        final NavigableSet<Key> ofShard = byShard.get(key.shard());
        return ofShard != null && ofShard.contains(key);
    }

    /** Forgets those of a shard up to a version. */
    void forget(int shard, long version) {
        final NavigableSet<Key> ofShard = byShard.get(shard);
        if (ofShard == null) {
            return;
        }
        while (!ofShard.isEmpty() && ofShard.first().version() <= version) {
            ofShard.pollFirst();
        }
        if (ofShard.isEmpty()) {
            byShard.remove(shard);
        }
    }

    int count() {
        return byShard.values().stream().mapToInt(NavigableSet::size).sum();
    }
}
