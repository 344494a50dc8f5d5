package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.assertj.core.api.SoftAssertions;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Parts;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.engine.Server;
import org.rowankv.server.index.ExpiryBound;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.session.SessionImage;
import org.rowankv.server.shard.ShardReplica;

/**
 * Everything that two starts of the same bytes must have in common: every replica of an opened store, and the caches
 * with their limits. Taking it requires that each replica is consistent: its index refers to existing entries, and its
 * counts are right. Nothing runs meanwhile.
 *
 * <p>Not part of it: where an entry lies. Of several copies, left by a killed cleaner, any will do.
 *
 * @param replicas by server and shard
 * @param caches by name
 */
record StoreState(Map<String, Replica> replicas, Map<String, Cache> caches) {
    private static final int LOCK_OWNER = (1 << 26) + 1;
    /** Ids are assigned consecutively. */
    private static final int MOST_CACHES = 64;

    /** An object according to its entry; the checksum covers the whole entry. */
    record Stored(long version, long objectVersion, int type, long expiryMs, int length, int crc) {}

    record Cache(int id, CacheLimit limit) {}

    /** The version up to which a cache was cleared, as far as the replica knows, and whether it is destroyed. */
    record Cleared(long version, boolean destroyed) {}

    /** The index's count of a cache's objects, and their charge. */
    record Counted(long objects, long bytes) {}

    /**
     * One shard's replica.
     *
     * @param objects visible to readers, by cache and key
     * @param sessions that are open
     * @param closed of the given sessions, those known to be closed
     * @param ended sessions whose end is in the log
     * @param commitVersion of the replica
     * @param lastVersion assigned, on the primary
     * @param remembered deletions
     * @param forgottenUpTo no deletion with a larger version is forgotten
     */
    record Replica(
            int tenure,
            Map<String, Stored> objects,
            Map<Integer, Cleared> clears,
            Map<Long, SessionImage> sessions,
            TreeSet<Long> closed,
            TreeSet<Long> ended,
            Map<Integer, Counted> counts,
            long commitVersion,
            long lastVersion,
            int remembered,
            long forgottenUpTo) {}

    /**
     * Of a store that has digested all landed entries.
     *
     * @param sessionIds to record whether they are known to be closed
     */
    static StoreState of(EmbeddedCluster cluster, Collection<Long> sessionIds) {
        return of(cluster, sessionIds, true);
    }

    /**
     * Of a store just after its start. A start completes the destruction of caches that the previous process began. So
     * a clear of the new epoch may have landed on a backup that has not digested it.
     *
     * @param sessionIds as above
     */
    static StoreState atStart(EmbeddedCluster cluster, Collection<Long> sessionIds) {
        return of(cluster, sessionIds, false);
    }

    private static StoreState of(EmbeddedCluster cluster, Collection<Long> sessionIds, boolean digested) {
        final Map<String, Replica> replicas = new TreeMap<>();
        for (Server server : cluster.servers()) {
            for (int shard = 0; shard < server.replicas().shardCount(); shard++) {
                if (server.replicas().has(shard)) {
                    final int epoch = cluster.configuration().shard(shard).epoch();
                    final long appliedUpTo =
                            digested || server.isPrimary(shard) ? Long.MAX_VALUE : Version.of(epoch, 0);
                    replicas.put(
                            "server " + server.serverId() + " shard " + shard,
                            new Walk(server, server.replicas().get(shard), appliedUpTo).read(sessionIds));
                }
            }
        }
        final Map<String, Cache> caches = new TreeMap<>();
        for (Catalogue.CacheRecord cache : cluster.session().catalogue().list()) {
            caches.put(cache.name(), new Cache(cache.id(), cache.limit()));
        }
        return new StoreState(replicas, caches);
    }

    /**
     * Requires that a start is as good as the start that reads the whole log. It may hold more: clears whose tombstones
     * the log has dropped, since nothing is left that they end; a CommitVer whose records are gone. And less: clears whose
     * tombstones are in the log, of which nothing was left when a checkpoint was taken.
     *
     * @param unanswered as below
     */
    void requireAsGoodAs(StoreState whole, Map<Long, Set<Long>> unanswered) {
        requireContentOf(whole, unanswered);
        final SoftAssertions softly = new SoftAssertions();
        whole.replicas.forEach((name, other) -> {
            final Replica own = replicas.get(name);
            softly.assertThat(own.commitVersion)
                    .as("CommitVer of %s", name)
                    .isGreaterThanOrEqualTo(other.commitVersion);
            softly.assertThat(own.lastVersion).as("last version of %s", name).isEqualTo(other.lastVersion);
            softly.assertThat(own.remembered).as("deletions of %s", name).isEqualTo(other.remembered);
            softly.assertThat(own.forgottenUpTo)
                    .as("deletions forgotten by %s", name)
                    .isGreaterThanOrEqualTo(other.forgottenUpTo);
        });
        softly.assertAll();
    }

    /**
     * Requires that this holds all that clients can request of the other, and nothing else; it may hold more clears.
     *
     * @param unanswered by session, the sequences of the requests that its client may repeat. Others are ignored: only
     * the primary learns of an acknowledgement by a request that writes nothing, and does not log it
     */
    void requireContentOf(StoreState other, Map<Long, Set<Long>> unanswered) {
        final SoftAssertions softly = new SoftAssertions();
        softly.assertThat(caches).as("caches").isEqualTo(other.caches);
        assertThat(replicas.keySet()).isEqualTo(other.replicas.keySet());
        other.replicas.forEach((name, others) -> {
            final Replica own = replicas.get(name);
            softly.assertThat(own.tenure).as("tenure of %s", name).isEqualTo(others.tenure);
            softly.assertThat(own.objects).as("objects of %s", name).isEqualTo(others.objects);
            clearsToKnow(others)
                    .forEach((id, clear) -> softly.assertThat(own.clears.getOrDefault(id, new Cleared(0, false)))
                            .as("whether cache %d of %s is destroyed", id, name)
                            .matches(known -> known.destroyed() || !clear.destroyed()));
            softly.assertThat(answers(own.sessions, unanswered))
                    .as("sessions of %s", name)
                    .isEqualTo(answers(others.sessions, unanswered));
        });
        softly.assertAll();
    }

    /** Among several servers a start may transfer the tombstone of a clear of which nothing is left here. */
    private Map<Integer, Cleared> clearsToKnow(Replica others) {
        return replicas.keySet().stream().allMatch(name -> name.startsWith("server 0 ")) ? others.clears : Map.of();
    }

    /** Of each open session the completions of those requests. */
    private static Map<Long, Map<Long, String>> answers(
            Map<Long, SessionImage> sessions, Map<Long, Set<Long>> requests) {
        final Map<Long, Map<Long, String>> answers = new TreeMap<>();
        sessions.forEach((id, session) -> {
            final Map<Long, String> bySequence = new TreeMap<>();
            for (SessionImage.Answer answer : session.answers()) {
                if (requests.getOrDefault(id, Set.of()).contains(answer.sequence())) {
                    bySequence.put(
                            answer.sequence(),
                            answer.version() + " after " + answer.previousVersion() + " with " + answer.bits());
                }
            }
            answers.put(id, bySequence);
        });
        return answers;
    }

    /** Every replica of a shard holds the same. */
    void requireAgreement() {
        final Map<String, Map.Entry<String, Replica>> firsts = new TreeMap<>();
        replicas.forEach((name, replica) -> {
            final String shard = name.substring(name.indexOf("shard"));
            final Map.Entry<String, Replica> first = firsts.putIfAbsent(shard, Map.entry(name, replica));
            if (first != null) {
                final String names = name + " and " + first.getKey();
                assertThat(replica.objects).as("objects of %s", names).isEqualTo(first.getValue().objects);
                assertThat(replica.sessions.keySet())
                        .as("sessions of %s", names)
                        .isEqualTo(first.getValue().sessions.keySet());
            }
        });
    }

    /**
     * Requires that a start records those sessions as closed whose ends are in the log, and holds none open that the
     * log ends.
     */
    void requireClosed(Collection<Long> sessionIds, StoreState whole) {
        replicas.forEach((name, replica) -> {
            final TreeSet<Long> ended = new TreeSet<>(whole.replicas.get(name).ended);
            assertThat(replica.sessions.keySet())
                    .as("open in %s, which has the end of %s", name, ended)
                    .noneMatch(ended::contains);
            ended.retainAll(sessionIds);
            assertThat(replica.closed).as("known to be closed in %s", name).containsAll(ended);
        });
    }

    /** Collects the sessions that the log ends. */
    private record Endings(ShardReplica replica, TreeSet<Long> ended) implements SegmentScan.Visitor {
        @Override
        public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
            if (type == EntryType.SESSION_CLOSE && EntryDescriptor.shard(buffer, at) == replica.shardId()) {
                for (int number = 0; number < EntryDescriptor.closedSessions(buffer, at); number++) {
                    ended.add(EntryDescriptor.closedSession(buffer, at, number));
                }
            }
        }

        @Override
        public void onInvalid(long address, String reason) {
            // Torn by a power cut.
        }
    }

    /** Requires that the log's clears up to that version are applied, unless nothing is left that they end. */
    private record LoggedClears(ShardReplica replica, long appliedUpTo, Map<Integer, Long> oldest, String name)
            implements SegmentScan.Visitor {
        @Override
        public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
            if (type != EntryType.CLEAR
                    || EntryDescriptor.shard(buffer, at) != replica.shardId()
                    || FrameDescriptor.tag(buffer, at) < replica.tenure()
                    || EntryDescriptor.version(buffer, at) > appliedUpTo) {
                return;
            }
            final int cacheId = EntryDescriptor.cacheId(buffer, at);
            final long version = EntryDescriptor.version(buffer, at);
            if (oldest.getOrDefault(cacheId, Long.MAX_VALUE) <= version) {
                assertThat(replica.clears().clearedUpTo(cacheId))
                        .as("cleared in %s, of cache %d", name, cacheId)
                        .isGreaterThanOrEqualTo(version);
            }
            if (EntryDescriptor.valueLength(buffer, at) > 0) {
                assertThat(replica.clears().isDestroyed(cacheId))
                        .as("destroyed in %s, cache %d", name, cacheId)
                        .isTrue();
            }
        }

        @Override
        public void onInvalid(long address, String reason) {
            // Torn by a power cut.
        }
    }

    /** Reads one replica, bucket by bucket. */
    private static final class Walk {
        private final Server server;
        private final Segments segments;
        private final MemoryRegion region;
        private final ShardReplica replica;
        private final EntryCheck check;
        private final long appliedUpTo;
        private final String name;
        private final Map<String, Stored> objects = new TreeMap<>();
        /** By cache: the smallest version of an object or part in the index. */
        private final Map<Integer, Long> oldest = new TreeMap<>();

        private final Map<Integer, Counted> recount = new TreeMap<>();
        private long items;
        private int deletions;

        Walk(Server server, ShardReplica replica, long appliedUpTo) {
            this.server = server;
            this.segments = server.segments();
            this.region = segments.region();
            this.replica = replica;
            this.check = new EntryCheck(region);
            this.appliedUpTo = appliedUpTo;
            this.name = "server " + server.serverId() + " shard " + replica.shardId();
        }

        Replica read(Collection<Long> sessionIds) {
            long position = 0;
            do {
                final long begin = position;
                replica.index().lock(LOCK_OWNER);
                try {
                    final long bound = replica.index().expiry().bound(begin);
                    position = replica.index().visit(begin, address -> item(address, bound));
                } finally {
                    replica.index().unlock();
                }
            } while (position != 0);
            assertThat(replica.index().count())
                    .as("items in the index of %s", name)
                    .isEqualTo(items);
            // A superseded deletion is remembered and not in the index; the reverse would never be forgotten.
            assertThat(deletions)
                    .as("deletions in the index of %s", name)
                    .isLessThanOrEqualTo(replica.deletions().size());
            final Map<Integer, Counted> counts = new TreeMap<>();
            for (int cacheId = 0; cacheId < MOST_CACHES; cacheId++) {
                final Counted counted = new Counted(
                        replica.counts().objects(cacheId), replica.counts().bytes(cacheId));
                if (counted.objects != 0 || counted.bytes != 0) {
                    counts.put(cacheId, counted);
                }
            }
            assertThat(counts).as("counts of %s", name).isEqualTo(recount);
            final Map<Long, SessionImage> sessions = new TreeMap<>();
            replica.sessions().images().forEach(session -> sessions.put(session.sessionId(), session));
            final Map<Integer, Cleared> clears = new TreeMap<>();
            for (int cacheId = 0; cacheId < MOST_CACHES; cacheId++) {
                // As a request reads it, not as a checkpoint does.
                final long version = replica.clears().clearedUpTo(cacheId);
                final boolean destroyed = replica.clears().isDestroyed(cacheId);
                if (version != 0 || destroyed) {
                    clears.put(cacheId, new Cleared(version, destroyed));
                }
            }
            requireLoggedClears();
            final TreeSet<Long> closed = new TreeSet<>();
            for (long id : sessionIds) {
                if (replica.sessions(id).mayBeClosed(id, Long.MAX_VALUE)) {
                    closed.add(id);
                }
            }
            return new Replica(
                    replica.tenure(),
                    objects,
                    clears,
                    sessions,
                    closed,
                    ended(),
                    counts,
                    replica.commitVersion(),
                    server.lastVersion(replica.shardId()),
                    replica.deletions().size(),
                    replica.deletions().forgottenUpTo());
        }

        /** The log's clears are recorded as cleared, its destructions as destroyed. */
        private void requireLoggedClears() {
            final SegmentScan scan = new SegmentScan(region);
            for (int s = 0; s < segments.count(); s++) {
                if (segments.state(s) != SegmentState.FREE) {
                    scan.scan(
                            segments.area().addressOf(s),
                            segments.length(),
                            segments.generation(s),
                            new LoggedClears(replica, appliedUpTo, oldest, name));
                }
            }
        }

        private TreeSet<Long> ended() {
            final TreeSet<Long> ended = new TreeSet<>();
            final SegmentScan scan = new SegmentScan(region);
            for (int s = 0; s < segments.count(); s++) {
                if (segments.state(s) != SegmentState.FREE) {
                    scan.scan(
                            segments.area().addressOf(s),
                            segments.length(),
                            segments.generation(s),
                            new Endings(replica, ended));
                }
            }
            return ended;
        }

        private void item(long address, long bound) {
            items++;
            final int segment = segments.segmentOf(address);
            final ByteBuffer buffer = region.buffer(address);
            final int at = region.offset(address);
            if (segments.state(segment) == SegmentState.FREE) {
                throw new AssertionError(name + " points into the free segment " + segment);
            }
            final String invalid = check.whyInvalid(
                    address, segments.area().addressOf(segment) + segments.length(), segments.generation(segment));
            if (invalid != null) {
                throw new AssertionError(name + " points to what is no entry: " + invalid);
            }
            final long word = FrameDescriptor.wordPlain(buffer, at);
            final int type = FrameDescriptor.type(word);
            if (!EntryType.holdsObject(type)) {
                deletions++;
                return;
            }
            final int cacheId = EntryDescriptor.cacheId(buffer, at);
            oldest.merge(Parts.cacheOf(cacheId), EntryDescriptor.version(buffer, at), Math::min);
            final int flags = EntryDescriptor.flags(buffer, at);
            final long expiryMs = EntryDescriptor.expiryMs(buffer, at, flags);
            final byte[] key = new byte[EntryDescriptor.keyLength(buffer, at)];
            final String id = cacheId + ":" + keyOf(buffer, at, flags, key);
            if (!replica.index().refers(replica.positionOf(buffer, at, key), address)) {
                throw new AssertionError(name + " does not find " + id);
            }
            if (ExpiryBound.of(expiryMs) < bound) {
                throw new AssertionError(name + " would not sweep " + id + ", which ends at " + expiryMs);
            }
            recount.merge(
                    cacheId,
                    new Counted(1, segments.charge(FrameDescriptor.length(word))),
                    (a, b) -> new Counted(a.objects + b.objects, a.bytes + b.bytes));
            if (replica.isVisible(type, cacheId, EntryDescriptor.version(buffer, at))) {
                final Stored former = objects.put(
                        id,
                        new Stored(
                                EntryDescriptor.version(buffer, at),
                                EntryDescriptor.objectVersion(buffer, at, flags),
                                type,
                                expiryMs,
                                EntryDescriptor.valueLength(buffer, at),
                                FrameDescriptor.bodyCrc(buffer, at)));
                assertThat(former).as("%s twice in %s", id, name).isNull();
            }
        }

        private static String keyOf(ByteBuffer buffer, int at, int flags, byte[] key) {
            buffer.get(at + EntryDescriptor.headerLength(flags), key);
            return new String(key, StandardCharsets.ISO_8859_1);
        }
    }

    /** Numbers of objects, clears, open sessions and completions: the size of a comparison. */
    List<Integer> sizes() {
        int objects = 0;
        int clears = 0;
        int sessions = 0;
        int answers = 0;
        for (Replica replica : replicas.values()) {
            objects += replica.objects.size();
            clears += replica.clears.size();
            sessions += replica.sessions.size();
            answers += replica.sessions.values().stream()
                    .mapToInt(session -> session.answers().size())
                    .sum();
        }
        return List.of(objects, clears, sessions, answers);
    }
}
