package org.rowankv.server.cluster;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Members to which this server cannot connect in a common start, of this start and those before. Two that live, and
 * cannot connect to each other, meet again in the next start: it leaves out the one that more others miss. For the
 * thread of the {@link ClusterServer}.
 */
final class UnreachableMembers {
    private final long waitNs;
    /** By member: the first of the checks of this start that found it so. */
    private final Map<Integer, Long> sinceNs = new HashMap<>();
    /** Those for which this server has ended a start, since it served last. */
    private final Set<Integer> endedFor = new TreeSet<>();

    /** @param waitNs patience with one of them. With several it is longer: then this server may be the one that others miss */
    UnreachableMembers(long waitNs) {
        this.waitNs = waitNs;
    }

    /** Another start begins. */
    void begin() {
        sinceNs.clear();
    }

    /** Those that have been unreachable for too long, with a check's result. */
    Set<Integer> gone(Set<Integer> unreachable, long nowNs) {
        sinceNs.keySet().retainAll(unreachable);
        unreachable.forEach(member -> sinceNs.putIfAbsent(member, nowNs));
        final Set<Integer> gone = new TreeSet<>();
        sinceNs.forEach((member, since) -> {
            if (nowNs - since >= waitNs * sinceNs.size()) {
                gone.add(member);
            }
        });
        return gone;
    }

    /** Of those that are gone the ones that were at the end of a start before: they live, and registered for this one. */
    Set<Integer> again(Set<Integer> gone) {
        final Set<Integer> again = new TreeSet<>(gone);
        again.retainAll(endedFor);
        return again;
    }

    void ended(Set<Integer> gone) {
        endedFor.addAll(gone);
    }

    void served() {
        endedFor.clear();
    }
}
