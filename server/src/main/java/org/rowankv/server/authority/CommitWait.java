package org.rowankv.server.authority;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How long a manager keeps back COMMIT, behind which shards open elsewhere: until all leases are over that it has not
 * granted to present members itself. Grants and PREPARE do not wait. All by the manager's monotonic clock. Immutable.
 *
 * @param since no manager before was confirmed later than this: the later of the read on which the election was
 *     conditional, and the candidate's own last confirmation
 * @param superseded the configuration before, if this server had committed exactly that one when it stood; else null.
 *     Then holders of leases of that term are its members and no others
 * @param prepared members of {@code superseded} whose incarnation has prepared this manager's first term, or a later one
 */
public record CommitWait(ClockReading since, @Nullable Electorate superseded, Set<Integer> prepared) {
    public CommitWait {
        prepared = Set.copyOf(prepared);
    }

    /** After a process prepared a configuration of this manager. */
    public CommitWait preparedBy(int slot, long incarnation) {
        if (superseded == null || !superseded.names(slot, incarnation)) {
            return this;
        }
        final Set<Integer> more = new HashSet<>(prepared);
        more.add(slot);
        return new CommitWait(since, superseded, more);
    }

    /**
     * Nanoseconds until COMMIT may be sent; 0 if it may.
     *
     * @param stored this manager's newest stored configuration
     * @param answered by slot: this manager's last grants, of former members too
     */
    public long remainingNs(Electorate stored, SlotReadings answered, ClockReading now, LeaseTimes times) {
        long remaining = ofFormerManagersNs(stored, times) - now.leastNsSince(since);
        for (var answer : answered.bySlot().entrySet()) {
            if (!stored.isMember(answer.getKey())) {
                remaining = Math.max(remaining, times.oneLeaseNs() - now.leastNsSince(answer.getValue()));
            }
        }
        return Math.max(0, remaining);
    }

    /**
     * Former managers: one that was confirmed just before {@code since} may grant until that confirmation ends, and the
     * lease follows. If all but the former manager serve this term now, only its own lease can harm, and this one ends
     * with its confirmation. A member that this manager excludes afterwards may hold a lease of the former one again.
     */
    private long ofFormerManagersNs(Electorate stored, LeaseTimes times) {
        if (superseded == null) {
            return times.twoLeasesNs();
        }
        for (int member : superseded.members()) {
            final boolean serves = prepared.contains(member) && stored.isMember(member);
            if (member != superseded.manager() && !serves) {
                return times.twoLeasesNs();
            }
        }
        return times.oneLeaseNs();
    }
}
