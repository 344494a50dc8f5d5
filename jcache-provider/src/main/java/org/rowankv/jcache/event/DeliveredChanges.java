package org.rowankv.jcache.event;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.ChangeType;

/**
 * Record of the changes that operations of this JVM have delivered to listeners, kept until the change stream contains
 * them: so each is delivered once. The stream has each shard's changes in version order, so older records are dropped.
 * Bounded. Thread-safe.
 */
final class DeliveredChanges {
    /** Limit per shard; exceeds what the servers retain. */
    static final int MAX_CHANGES = 1 << 16;

    /**
     * An expiry found by an operation, whose version is unknown.
     *
     * @param atMost upper bound of that version
     */
    private record Expiry(byte[] key, long atMost) {}

    private static final class ShardRecord {
        private final TreeSet<Long> versions = new TreeSet<>();
        private final List<Expiry> expiries = new ArrayList<>();
        /** Records up to this version may have been dropped. */
        private long droppedTo;
    }

    /** Classification of a change of the stream. */
    enum Verdict {
        /** Not delivered yet. */
        NEW,
        DELIVERED,
        /** Unknown whether it was delivered. */
        UNKNOWN
    }

    private final Map<Integer, ShardRecord> shards = new HashMap<>();

    private ShardRecord recordOf(int shard) {
        return shards.computeIfAbsent(shard, unused -> new ShardRecord());
    }

    synchronized void change(int shard, long version) {
        final ShardRecord record = recordOf(shard);
        record.versions.add(version);
        if (record.versions.size() > MAX_CHANGES) {
            record.droppedTo = record.versions.pollFirst();
        }
    }

    synchronized void expiry(int shard, byte[] key, long atMost) {
        final ShardRecord record = recordOf(shard);
        record.expiries.add(new Expiry(key, atMost));
        if (record.expiries.size() > MAX_CHANGES) {
            record.expiries.remove(0);
        }
    }

    /** Classifies a change of the stream and drops older records. */
    synchronized Verdict classify(int shard, Change change) {
        final ShardRecord record = shards.get(shard);
        if (record == null) {
            return Verdict.NEW;
        }
        record.versions.headSet(change.version()).clear();
        record.expiries.removeIf(expiry -> expiry.atMost() < change.version());
        if (record.versions.remove(change.version())) {
            return Verdict.DELIVERED;
        }
        if (change.type() == ChangeType.EXPIRED) {
            for (int i = 0; i < record.expiries.size(); i++) {
                if (Arrays.equals(record.expiries.get(i).key(), change.key())) {
                    record.expiries.remove(i);
                    return Verdict.DELIVERED;
                }
            }
        }
        return change.version() <= record.droppedTo ? Verdict.UNKNOWN : Verdict.NEW;
    }

    /** Drops records up to a version, which the stream has lost. */
    synchronized void lost(int shard, long upTo) {
        final ShardRecord record = shards.get(shard);
        if (record != null) {
            record.versions.headSet(upTo, true).clear();
            record.expiries.removeIf(expiry -> expiry.atMost() <= upTo || expiry.atMost() == Long.MAX_VALUE);
        }
    }

    synchronized void clear() {
        shards.clear();
    }
}
