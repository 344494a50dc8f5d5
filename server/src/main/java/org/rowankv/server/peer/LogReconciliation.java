package org.rowankv.server.peer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.opening.CollectedAnswer;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * Collect and scatter (§4.5 and §4.7 of the paper) between servers in separate processes. The primary of a shard, in
 * the configuration being started, asks every other complete replica for entries that may not be on all replicas. It
 * copies what it lacks, and sends each replica what that one lacks. Afterwards all replicas hold the same entries: an
 * unacknowledged write takes effect everywhere or, if no replica has it, nowhere.
 *
 * <p>Every step is idempotent: adding an existing entry has no effect. An interrupted start changes nothing that the
 * next one would not repeat.
 *
 * <p>One thread at a time uses the recovered server: calls as primary and as backup exclude each other here.
 */
public final class LogReconciliation {
    private static final int MOST_VERSIONS = CollectedAnswer.MOST_VERSIONS;

    /**
     * Entries of a shard that some complete replicas have and others lack.
     *
     * @param lacking versions that some replica has and another one lacks
     * @param mine the subset that this server has
     * @param held the subsets of the other servers
     */
    private record Compared(Set<Long> lacking, Set<Long> mine, Map<Integer, Set<Long>> held) {}

    private final Configuration configuration;
    private final RecoveredServer own;
    /** By shard: the versions that the scan found and that may not be on all replicas. */
    private final Map<Integer, SortedSet<Long>> found = new HashMap<>();
    /** By local primary shard. Owned by the thread of the primary's calls. */
    private final Map<Integer, Compared> compared = new TreeMap<>();
    /** By shard of another primary: versions that some replica lacks. Guarded by this. */
    private final Map<Integer, Set<Long>> lackingSomewhere = new HashMap<>();
    /** By shard: the versions that were added since. */
    private final Map<Integer, Set<Long>> taken = new HashMap<>();

    public LogReconciliation(Configuration configuration, RecoveredServer own) {
        this.configuration = configuration;
        this.own = own;
    }

    // --- as the primary ---

    /**
     * Compares the content of all complete replicas, for each local primary shard, and sends the result to them. A
     * server may drop entries that all replicas have, to free space: so no server adds entries before all shards are
     * compared.
     */
    public void compare(PeerCalls calls, PeerCalls.Patience patience) {
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            if (configuration.shard(shard).primary() == own.serverId()) {
                compare(shard, calls, patience);
            }
        }
    }

    private void compare(int shard, PeerCalls calls, PeerCalls.Patience patience) {
        final List<Integer> others = new ArrayList<>();
        final ShardAssignment assignment = configuration.shard(shard);
        for (int backup : assignment.backups()) {
            if (assignment.isComplete(backup)) {
                others.add(backup);
            }
        }
        if (others.isEmpty()) {
            return;
        }
        // Above the highest CommitVer of these replicas: up to it every replica had the entries, and may have dropped
        // them.
        long commitVersion = own.replicas().get(shard).commitVersion();
        final Map<Integer, Set<Long>> held = new TreeMap<>();
        for (int server : others) {
            final Set<Long> versions = new TreeSet<>();
            commitVersion = Math.max(
                    commitVersion,
                    collect(shard, assignment.epoch(), server, commitVersion, versions, calls, patience));
            held.put(server, versions);
        }
        final Set<Long> mine = ownVersions(shard, commitVersion);
        final Set<Long> lacking = new TreeSet<>(mine);
        final Set<Long> common = new HashSet<>(mine);
        for (Set<Long> versions : held.values()) {
            final long known = commitVersion;
            versions.removeIf(version -> version <= known);
            lacking.addAll(versions);
            common.retainAll(versions);
        }
        lacking.removeAll(common);
        mine.retainAll(lacking);
        held.values().forEach(versions -> versions.retainAll(lacking));
        compared.put(shard, new Compared(lacking, mine, held));
        for (int server : others) {
            sendLacking(shard, server, lacking, calls, patience);
        }
        agreeAllBut(shard, lacking);
    }

    /** Sends the versions in parts that fit into messages, the last one marked. */
    static void sendLacking(int shard, int server, Set<Long> lacking, PeerCalls calls, PeerCalls.Patience patience) {
        final Iterator<Long> versions = lacking.iterator();
        do {
            final ByteBuffer part = ByteBuffer.allocate(Math.min(lacking.size(), MOST_VERSIONS) * Long.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN);
            while (versions.hasNext() && part.hasRemaining()) {
                part.putLong(versions.next());
            }
            final ByteBuffer unused = calls.ask(
                    server, PeerRequestType.LACKING, shard, versions.hasNext() ? 1 : 0, part.flip(), patience);
        } while (versions.hasNext());
    }

    /**
     * After all servers have compared: completes the replicas of the local primary shards; returns the number of copied
     * entries.
     */
    public long scatter(PeerCalls calls, PeerCalls.Patience patience) {
        long copies = 0;
        for (Map.Entry<Integer, Compared> each : compared.entrySet()) {
            final Compared shard = each.getValue();
            for (long version : shard.lacking) {
                copies += spread(each.getKey(), version, shard.mine.contains(version), shard.held, calls, patience);
            }
            Chaos.point("start.collected");
        }
        return copies;
    }

    /**
     * Adds the server's versions above the given one; returns its highest CommitVer.
     *
     * @param epoch of the shard that begins with this start: it holds no entry yet
     * @throws IllegalStateException if the server's answer is impossible
     */
    static long collect(
            int shard,
            int epoch,
            int server,
            long commitVersion,
            Set<Long> versions,
            PeerCalls calls,
            PeerCalls.Patience patience) {
        long above = commitVersion;
        while (true) {
            final ByteBuffer answer =
                    calls.ask(server, PeerRequestType.COLLECT, shard, above, ByteBuffer.allocate(0), patience);
            final ByteBuffer found = PeerMessageDescriptor.payload(answer);
            final long known = PeerMessageDescriptor.argument(answer);
            final String reason = CollectedAnswer.whyImpossible(epoch, above, known, found);
            if (reason != null) {
                throw new IllegalStateException(
                        "the answer of server " + server + " about shard " + shard + " is impossible: " + reason);
            }
            long last = above;
            int count = 0;
            while (found.hasRemaining()) {
                last = found.getLong();
                versions.add(last);
                count++;
            }
            if (count < MOST_VERSIONS) {
                return known;
            }
            above = last;
        }
    }

    private int spread(
            int shard,
            long version,
            boolean isMine,
            Map<Integer, Set<Long>> held,
            PeerCalls calls,
            PeerCalls.Patience patience) {
        int copies = 0;
        @Nullable ByteBuffer entry = isMine ? entry(shard, version) : null;
        if (!isMine) {
            for (Map.Entry<Integer, Set<Long>> each : held.entrySet()) {
                if (entry == null && each.getValue().contains(version)) {
                    final ByteBuffer answer = calls.ask(
                            each.getKey(), PeerRequestType.FETCH, shard, version, ByteBuffer.allocate(0), patience);
                    entry = PeerMessageDescriptor.payload(answer);
                    take(shard, version, entry);
                    copies++;
                }
            }
        }
        if (entry == null) {
            throw new AssertionError("version " + version + " of shard " + shard + " is on no replica");
        }
        for (Map.Entry<Integer, Set<Long>> each : held.entrySet()) {
            if (!each.getValue().contains(version)) {
                final ByteBuffer unused =
                        calls.ask(each.getKey(), PeerRequestType.TAKE, shard, version, entry.duplicate(), patience);
                copies++;
            }
        }
        return copies;
    }

    // --- as primary and backup ---

    private synchronized Set<Long> ownVersions(int shard, long above) {
        return new TreeSet<>(found(shard).tailSet(above + 1));
    }

    private SortedSet<Long> found(int shard) {
        return found.computeIfAbsent(
                shard, one -> own.candidates(one, own.replicas().get(one).commitVersion()));
    }

    private synchronized void agreeAllBut(int shard, Set<Long> lacking) {
        own.agreeAllBut(shard, lacking);
    }

    /** A copy of a local entry, or null. */
    private synchronized @Nullable ByteBuffer entry(int shard, long version) {
        final long address = own.candidate(shard, version);
        if (address == 0) {
            return null;
        }
        final ByteBuffer source = own.segments().region().buffer(address);
        final int at = own.segments().region().offset(address);
        final int length = FrameDescriptor.length(FrameDescriptor.wordPlain(source, at));
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN).put(0, source, at, length);
    }

    private synchronized void take(int shard, long version, ByteBuffer entry) {
        final int epoch = configuration.shard(shard).epoch();
        final String reason = Version.epoch(version) >= epoch
                ? "version " + Version.toString(version) + ", but epoch " + epoch + " is new"
                : CollectedAnswer.whyInvalid(
                        shard, version, entry, own.segments().length());
        if (reason != null) {
            throw new IllegalStateException("another server sent an invalid entry of shard " + shard + ": " + reason);
        }
        if (!found(shard).contains(version)
                && taken.computeIfAbsent(shard, one -> new HashSet<>()).add(version)) {
            own.takeOver(entry, 0, own.replicas().get(shard).tenure());
            Chaos.point("start.taken-over");
        }
    }

    // --- as a backup ---

    /**
     * Answers a request of the primary.
     *
     * @return payload and argument of the answer; null if there is none
     */
    @Nullable
    Answer answer(int from, int question, int shard, long argument, ByteBuffer payload) {
        if (shard < 0
                || shard >= configuration.shardCount()
                || configuration.shard(shard).primary() != from
                || !configuration.shard(shard).isComplete(own.serverId())) {
            return null; // the sender is not its primary
        }
        switch (question) {
            case PeerRequestType.COLLECT -> {
                return collected(shard, argument);
            }
            case PeerRequestType.LACKING -> {
                return agreed(shard, argument == 0, payload);
            }
            case PeerRequestType.FETCH -> {
                final ByteBuffer entry = entry(shard, argument);
                return entry == null ? null : new Answer(argument, entry);
            }
            case PeerRequestType.TAKE -> {
                take(shard, argument, payload);
                return new Answer(argument, ByteBuffer.allocate(0));
            }
            default -> {
                return null;
            }
        }
    }

    /** An answer: its argument and payload. */
    record Answer(long argument, ByteBuffer payload) {}

    private synchronized Answer collected(int shard, long above) {
        final long commitVersion = own.replicas().get(shard).commitVersion();
        final List<Long> versions = ownVersions(shard, Math.max(above, commitVersion)).stream()
                .limit(MOST_VERSIONS)
                .toList();
        final ByteBuffer payload =
                ByteBuffer.allocate(versions.size() * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        versions.forEach(payload::putLong);
        return new Answer(commitVersion, payload.flip());
    }

    /**
     * Receives a part of the versions that some replica of the shard lacks. A part may arrive repeatedly, also after
     * the last one.
     *
     * @param isLast whether all of them are known now; other entries need not be candidates any more
     */
    private synchronized @Nullable Answer agreed(int shard, boolean isLast, ByteBuffer versions) {
        if (versions.remaining() % Long.BYTES != 0 || versions.remaining() / Long.BYTES > MOST_VERSIONS) {
            return null;
        }
        final Set<Long> lacking = lackingSomewhere.computeIfAbsent(shard, one -> new HashSet<>());
        while (versions.hasRemaining()) {
            lacking.add(versions.getLong());
        }
        if (isLast) {
            found(shard); // the answer to COLLECT, if it is repeated
            own.agreeAllBut(shard, lacking);
        }
        return new Answer(0, ByteBuffer.allocate(0));
    }
}
