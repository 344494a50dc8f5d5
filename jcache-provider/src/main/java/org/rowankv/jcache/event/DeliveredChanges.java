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
 * What the operations of this JVM have told listeners of, until the change stream brings it, too: so that each is told once. The stream
 * has each shard's changes in the order of their versions: what it has passed by will not come. Bounded. Thread-safe.
 */
final class DeliveredChanges {
    /** Of a shard. The stream is further behind than the servers keep anything. */
    static final int MAX_CHANGES = 1 << 16;

    /**
     * An expiry that an operation met: it knows the key, and not the version of the expiry itself.
     *
     * @param atMost that version is at most this
     */
    private record Expiry(byte[] key, long atMost) {}

    private static final class Told {
        private final TreeSet<Long> versions = new TreeSet<>();
        private final List<Expiry> expiries = new ArrayList<>();
        /** Changes up to there may have been forgotten. */
        private long forgottenTo;
    }

    /** What is to be done with a change of the stream. */
    enum Verdict {
        /** Nobody has told of it. */
        NEW,
        TOLD,
        /** It may have been told of, or not. */
        UNKNOWN
    }

    private final Map<Integer, Told> shards = new HashMap<>();

    private Told told(int shard) {
        return shards.computeIfAbsent(shard, unused -> new Told());
    }

    synchronized void change(int shard, long version) {
        final Told told = told(shard);
        told.versions.add(version);
        if (told.versions.size() > MAX_CHANGES) {
            told.forgottenTo = told.versions.pollFirst();
        }
    }

    synchronized void expiry(int shard, byte[] key, long atMost) {
        final Told told = told(shard);
        told.expiries.add(new Expiry(key, atMost));
        if (told.expiries.size() > MAX_CHANGES) {
            told.expiries.remove(0);
        }
    }

    /** The stream has come to this change. */
    synchronized Verdict look(int shard, Change change) {
        final Told told = shards.get(shard);
        if (told == null) {
            return Verdict.NEW;
        }
        told.versions.headSet(change.version()).clear();
        told.expiries.removeIf(expiry -> expiry.atMost() < change.version());
        if (told.versions.remove(change.version())) {
            return Verdict.TOLD;
        }
        if (change.type() == ChangeType.EXPIRED) {
            for (int i = 0; i < told.expiries.size(); i++) {
                if (Arrays.equals(told.expiries.get(i).key(), change.key())) {
                    told.expiries.remove(i);
                    return Verdict.TOLD;
                }
            }
        }
        return change.version() <= told.forgottenTo ? Verdict.UNKNOWN : Verdict.NEW;
    }

    /** The stream passes by what lies before this version. */
    synchronized void lost(int shard, long upTo) {
        final Told told = shards.get(shard);
        if (told != null) {
            told.versions.headSet(upTo, true).clear();
            told.expiries.removeIf(expiry -> expiry.atMost() <= upTo || expiry.atMost() == Long.MAX_VALUE);
        }
    }

    synchronized void clear() {
        shards.clear();
    }

    synchronized int size() {
        return shards.values().stream()
                .mapToInt(told -> told.versions.size() + told.expiries.size())
                .sum();
    }
}
