package org.rowankv.check.chaos;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.rowankv.runtime.RandomSource;

/** The faults of a run, drawn from a seed: every kind once, in a drawn order, before any kind again. For one thread. */
final class ChaosPlan {
    private static final long SHORTEST_AWAY_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long LONGEST_AWAY_NS = TimeUnit.MILLISECONDS.toNanos(3_000);
    /** Stops last so many leases, in hundredths: the shortest end about when the server is excluded. */
    private static final int SHORTEST_STOP = 120;

    private static final int LONGEST_STOP = 600;
    private static final int HUNDRED = 100;

    private final List<ChaosFault> kinds;
    private final int servers;
    private final long leaseNs;
    private final RandomSource random;
    private final Deque<ChaosFault> next = new ArrayDeque<>();

    ChaosPlan(List<ChaosFault> kinds, int servers, long leaseNs, RandomSource random) {
        this.kinds = List.copyOf(kinds);
        this.servers = servers;
        this.leaseNs = leaseNs;
        this.random = random;
    }

    ChaosRound nextRound() {
        if (next.isEmpty()) {
            final List<ChaosFault> order = new ArrayList<>(kinds);
            for (int i = order.size() - 1; i > 0; i--) {
                Collections.swap(order, i, random.nextInt(i + 1));
            }
            next.addAll(order);
        }
        final ChaosFault kind = next.removeFirst();
        final int server = random.nextInt(servers);
        final int other = (server + 1 + random.nextInt(servers - 1)) % servers;
        final long lengthNs = kind.isInLeases()
                ? leaseNs
                        / HUNDRED
                        * (SHORTEST_STOP + random.nextInt(LONGEST_STOP - SHORTEST_STOP + 1))
                        * (kind.isOfNetwork() ? 2 : 1)
                : SHORTEST_AWAY_NS + (LONGEST_AWAY_NS - SHORTEST_AWAY_NS) / HUNDRED * random.nextInt(HUNDRED + 1);
        return new ChaosRound(kind, server, other, lengthNs, random.nextLong());
    }

    /** A permutation of the servers that a number stands for. */
    static List<Integer> order(int servers, long number) {
        final List<Integer> left = new ArrayList<>();
        for (int server = 0; server < servers; server++) {
            left.add(server);
        }
        final List<Integer> order = new ArrayList<>();
        long rest = number;
        while (!left.isEmpty()) {
            order.add(left.remove((int) Long.remainderUnsigned(rest, left.size())));
            rest = Long.divideUnsigned(rest, left.size() + 1L);
        }
        return order;
    }
}
