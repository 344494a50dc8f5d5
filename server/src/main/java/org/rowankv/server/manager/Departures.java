package org.rowankv.server.manager;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * Members that are about to stop, and ask the manager to give their roles to others first: their primaries are handed
 * over; then they are backups of nothing, so that no write waits for them when they are gone. Each repeats its request,
 * to every manager, until it is answered; one that is not repeated is forgotten.
 *
 * <p>Refused is a member without which those that stay would lack a complete replica of some shard: a cluster that stops
 * as a whole moves nothing. While one stays, that waits for a copy to one that stays; and at first, where a shard has
 * fewer replicas than others, also for the beginning of a copy: an excluded server may be back soon.
 *
 * <p>Thread-safe: requests come from the messages' agent, the manager's thread takes the steps.
 */
public final class Departures {
    /** The manager's answer. Its ordinal is sent. */
    public enum Answer {
        /** Ask again. */
        UNDER_WAY,
        /** The member has no roles. */
        DONE,
        /** Others cannot take its roles. */
        REFUSED;

        /** What was sent; UNDER_WAY for what no manager sends. */
        public static Answer of(long sent) {
            return sent == DONE.ordinal() ? DONE : sent == REFUSED.ordinal() ? REFUSED : UNDER_WAY;
        }
    }

    /** Servers that are stopped together ask within that time: none takes over the roles of another one. */
    static final long GATHER_NS = 200_000_000;

    /** Within that time, an excluded server that lives has registered again. */
    static final long RETURN_NS = 5_000_000_000L;

    /** A request that is not repeated for so long was given up. */
    static final long FORGET_NS = 1_000_000_000;

    /** What a member has asked last, and since when; see {@link #ask}. */
    private record Request(long incarnation, long bareTerm, long firstNs, long lastNs, Answer answer) {}

    /** By server. */
    private final Map<Integer, Request> requests = new TreeMap<>();
    /** Incarnations that had no roles any more, by server. */
    private final Map<Integer, Long> departed = new HashMap<>();

    /**
     * A member asks, or asks again.
     *
     * @param bareTerm term of the roles in force at that server, if by them it is primary of nothing, and no shard is still
     *     leaving it; else 0
     */
    public synchronized Answer ask(int server, long incarnation, long bareTerm, long nowNs) {
        final Request before = requests.get(server);
        final Request asked = before == null || before.incarnation != incarnation
                ? new Request(incarnation, bareTerm, nowNs, nowNs, Answer.UNDER_WAY)
                : new Request(incarnation, bareTerm, before.firstNs, nowNs, before.answer);
        requests.put(server, asked);
        return asked.answer;
    }

    /** The members that are about to stop. */
    synchronized Set<Integer> servers(Configuration present, long nowNs) {
        requests.values().removeIf(request -> nowNs - request.lastNs >= FORGET_NS);
        final Set<Integer> servers = new TreeSet<>();
        requests.forEach((server, request) -> {
            if (present.names(server, request.incarnation)) {
                servers.add(server);
            }
        });
        return servers;
    }

    /** The members that are about to stop, also those that have no roles any more. */
    synchronized Set<Integer> leaving(Configuration present, long nowNs) {
        final Set<Integer> leaving = servers(present, nowNs);
        departed.forEach((server, incarnation) -> {
            if (present.names(server, incarnation)) {
                leaving.add(server);
            }
        });
        return leaving;
    }

    /** Whether that incarnation had no roles any more when it stopped. */
    synchronized boolean hasDeparted(int server, long incarnation) {
        return departed.getOrDefault(server, -1L) == incarnation;
    }

    /**
     * The next step for those that are about to stop; null if there is none now.
     *
     * @param present in force at all members
     * @param replicas that each shard should have
     */
    synchronized @Nullable Configuration next(Configuration present, int replicas, long nowNs) {
        final Set<Integer> leaving = leaving(present, nowNs);
        final Map<Integer, Integer> primaries = new TreeMap<>();
        final Set<Integer> bare = new HashSet<>();
        for (int server : leaving) {
            final Request request = requests.get(server);
            if (request == null || nowNs - request.firstNs < GATHER_NS) {
                continue;
            }
            if (present.shards().stream().noneMatch(shard -> shard.isReplica(server))) {
                departed.put(server, request.incarnation);
                answer(server, request, Answer.DONE);
            } else if (isNeeded(present, server, leaving)) {
                final boolean isNew = nowNs - request.firstNs < RETURN_NS;
                if (!mayBeSpared(present, server, leaving, isNew ? replicas : 0)) {
                    answer(server, request, Answer.REFUSED);
                }
            } else if (!present.primariesOf(server).isEmpty()) {
                handOver(present, server, leaving, primaries);
            } else if (request.bareTerm == present.term()) {
                // A shard that is still leaving it answers reads there, and opens elsewhere only when it has left.
                bare.add(server);
            }
        }
        if (!primaries.isEmpty()) {
            return present.handedOver(primaries);
        }
        return bare.isEmpty() ? null : present.withoutBackups(bare);
    }

    private void answer(int server, Request request, Answer answer) {
        requests.put(
                server, new Request(request.incarnation, request.bareTerm, request.firstNs, request.lastNs, answer));
    }

    /**
     * Whether one that is needed now may be needed no more, soon.
     *
     * @param enough replicas; to shards with fewer, copies may begin
     */
    private static boolean mayBeSpared(Configuration present, int server, Set<Integer> leaving, int enough) {
        return !leaving.containsAll(present.members())
                && present.shards().stream()
                        .allMatch(shard -> !shard.isReplica(server)
                                || !isLostWithout(shard, leaving)
                                || !leaving.containsAll(shard.joining())
                                || shard.replicaCount() < enough);
    }

    /** Whether no server that stays has a complete replica. */
    static boolean isLostWithout(ShardAssignment shard, Set<Integer> leaving) {
        return successor(shard, leaving, new int[0]) < 0;
    }

    private static boolean isNeeded(Configuration present, int server, Set<Integer> leaving) {
        return present.shards().stream().anyMatch(shard -> shard.isReplica(server) && isLostWithout(shard, leaving));
    }

    /** A shard that is being copied stays until the copy is complete, because its primary sends it. */
    private static void handOver(
            Configuration present, int server, Set<Integer> leaving, Map<Integer, Integer> primaries) {
        final int[] counts = new int[present.serverCount()];
        present.shards().forEach(shard -> counts[shard.primary()]++);
        primaries.values().forEach(other -> counts[other]++);
        for (int shard : present.primariesOf(server)) {
            if (present.shard(shard).joining().isEmpty()) {
                final int next = successor(present.shard(shard), leaving, counts);
                counts[next]++;
                primaries.put(shard, next);
            }
        }
    }

    /** The server with a complete replica that stays, and is primary of the fewest shards; −1 if there is none. */
    private static int successor(ShardAssignment shard, Set<Integer> leaving, int[] counts) {
        int best = leaving.contains(shard.primary()) ? -1 : shard.primary();
        for (int backup : shard.backups()) {
            if (shard.isComplete(backup)
                    && !leaving.contains(backup)
                    && (best < 0 || counts.length > 0 && counts[backup] < counts[best])) {
                best = backup;
            }
        }
        return best;
    }
}
