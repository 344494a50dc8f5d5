package org.rowankv.server.manager;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import org.rowankv.server.authority.Reach;

/**
 * Which members the manager hears, and which hear it: they request leases, and confirm what it asks. A link may pass
 * messages in one direction only. All by the manager's monotonic clock. Not thread-safe.
 */
final class HeardMembers {
    /** Time for the process of a new member to learn that it is one. Nothing waits for it meanwhile. */
    private static final long ARRIVAL_NS = 3_000_000_000L;

    /** By slot: when its last request for a lease arrived, or it became a member. */
    private final long[] requestedNs;
    /** When a member confirmed last; before that, its first request in this term. Without those that may not confirm. */
    private final TreeMap<Integer, Long> confirmedNs = new TreeMap<>();
    /** Servers that this manager adds, until their first request. */
    private final Set<Integer> arriving = new TreeSet<>();
    /** When it heard most members last. */
    private long heardMostNs;

    HeardMembers(int servers) {
        this.requestedNs = new long[servers];
    }

    /** Another term begins. */
    void begin(List<Integer> members, long nowNs) {
        members.forEach(member -> requestedNs[member] = nowNs);
        confirmedNs.clear();
        heardMostNs = nowNs;
    }

    /** No member was heard, which says nothing: this process stood still. */
    void pass(long nowNs) {
        Arrays.fill(requestedNs, nowNs);
        confirmedNs.entrySet().forEach(each -> each.setValue(nowNs));
        heardMostNs = nowNs;
    }

    /** A server that is about to be added is silent for a while, until it knows. */
    void awaitArrival(int server) {
        arriving.add(server);
    }

    void awaitNone() {
        arriving.clear();
    }

    /** @param mayConfirm whether it has prepared the present term, and promised no later one */
    void requested(int member, boolean mayConfirm, long nowNs) {
        requestedNs[member] = nowNs;
        arriving.remove(member);
        if (mayConfirm) {
            confirmedNs.putIfAbsent(member, nowNs);
        } else {
            confirmedNs.remove(member);
        }
    }

    void confirmed(int member, long nowNs) {
        confirmedNs.put(member, nowNs);
    }

    /** Whether it requested a lease within that time. */
    boolean hears(int member, long withinNs, long nowNs) {
        return nowNs - requestedNs[member] <= withinNs;
    }

    /** Whether, as far as known, it hears this server too. */
    boolean isHeardBy(int member, long withinNs, long nowNs) {
        final Long confirmed = confirmedNs.get(member);
        return confirmed == null || nowNs - confirmed <= withinNs;
    }

    /** Of those members the ones that are not heard in both directions for that long. */
    Set<Integer> silent(List<Integer> others, long ns, long nowNs) {
        final Set<Integer> silent = new TreeSet<>();
        for (int member : others) {
            final long longest = arriving.contains(member) ? Math.max(ns, ARRIVAL_NS) : ns;
            if (!hears(member, longest, nowNs) || !isHeardBy(member, longest, nowNs)) {
                silent.add(member);
            }
        }
        return silent;
    }

    /**
     * Whether the manager may act on the silence of members: it hears most of those that may run, or one of two, or has
     * waited for what the others do without it.
     *
     * @param others of the other members
     * @param hasEnded of those the processes that are known not to run
     */
    boolean actsOnSilence(List<Integer> others, IntPredicate hasEnded, long withinNs, long nowNs) {
        int members = 1;
        int heard = 1;
        for (int member : others) {
            final boolean isHeard = hears(member, withinNs, nowNs) && isHeardBy(member, withinNs, nowNs);
            if (isHeard || !arriving.contains(member) && !hasEnded.test(member)) {
                members++;
                heard += isHeard ? 1 : 0;
            }
        }
        if (2 * heard > members) {
            heardMostNs = nowNs;
        }
        return new Reach(members, heard).actsAtOnce() || nowNs - heardMostNs >= Reach.MINORITY_WAIT_NS;
    }
}
