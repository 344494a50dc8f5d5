package org.rowankv.check.disturb;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.rowankv.runtime.RandomSource;

/**
 * The faults of each round, drawn from a seed: one fault, sometimes two at once. No kind occurs a third time before
 * every other kind has occurred, so a run of minutes covers all. Confined to one thread.
 */
final class DisturbancePlan {
    /** One round in this many has two faults. */
    private static final int ROUNDS_PER_PAIR = 4;

    private static final long SHORTEST_STOP_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long LONGEST_AWAY_NS = TimeUnit.SECONDS.toNanos(5);
    private static final long LEAST_SPREAD_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int PARTS = 1 << 20;

    private final List<Disturbance> kinds = new ArrayList<>();
    private final int servers;
    private final long longestStopNs;
    private final RandomSource random;
    private final Deque<Disturbance> next = new ArrayDeque<>();

    /**
     * Creates a plan.
     *
     * @param kinds allowed kinds
     * @param longestStopNs longest stop of a process; also the longest downtime after a kill
     */
    DisturbancePlan(Set<Disturbance> kinds, int servers, long longestStopNs, RandomSource random) {
        for (Disturbance each : Disturbance.values()) {
            if (kinds.contains(each) && each != Disturbance.CUTS) {
                this.kinds.add(each);
            }
        }
        this.servers = servers;
        this.longestStopNs = longestStopNs;
        this.random = random;
    }

    /** The faults of the next round; none if the plan has only cuts, which have no rounds. */
    List<ServerFault> nextRound() {
        if (kinds.isEmpty()) {
            return List.of();
        }
        final ServerFault first = fault(take(), 0, random.nextInt(servers));
        if (random.nextInt(ROUNDS_PER_PAIR) != 0 || kinds.size() == 1) {
            return List.of(first);
        }
        final Disturbance other = take();
        if (isInTheWayOf(first.kind(), other)) {
            next.addFirst(other);
            return List.of(first);
        }
        final long afterNs = part(Math.max(LEAST_SPREAD_NS, first.lengthNs()));
        final int server = (first.server() + 1 + random.nextInt(Math.max(1, servers - 1))) % servers;
        return List.of(first, fault(other, afterNs, server));
    }

    private boolean isInTheWayOf(Disturbance one, Disturbance other) {
        return one.isOfZooKeeper() && other.isOfZooKeeper()
                || one == other && !one.isOfServer()
                || one.isOfServer() && other.isOfServer() && servers == 1;
    }

    private Disturbance take() {
        if (next.isEmpty()) {
            final List<Disturbance> order = new ArrayList<>(kinds);
            for (int i = order.size() - 1; i > 0; i--) {
                Collections.swap(order, i, random.nextInt(i + 1));
            }
            next.addAll(order);
        }
        return next.removeFirst();
    }

    private ServerFault fault(Disturbance kind, long afterNs, int server) {
        final long lengthNs = switch (kind) {
            case KILLS, ZOOKEEPER_KILLS -> part(Math.min(LONGEST_AWAY_NS, longestStopNs));
            case STOPS, ZOOKEEPER_STOPS -> stopNs();
            case SWAPS, CUTS -> 0;
        };
        return new ServerFault(kind, server, afterNs, lengthNs);
    }

    /** Draws a log-uniform length: as often between one half and one second as between ten and twenty. */
    private long stopNs() {
        final double share = random.nextInt(PARTS + 1) / (double) PARTS;
        return (long) (SHORTEST_STOP_NS * StrictMath.pow(longestStopNs / (double) SHORTEST_STOP_NS, share));
    }

    private long part(long wholeNs) {
        return wholeNs / PARTS * random.nextInt(PARTS + 1);
    }
}
