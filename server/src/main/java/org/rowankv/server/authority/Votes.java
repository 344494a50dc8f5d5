package org.rowankv.server.authority;

import org.jspecify.annotations.Nullable;

/**
 * The confirmations that a manager has of its present term, each by the reading of its own clocks before it asked: a
 * voter that answers later may have promised another term at once. Immutable.
 *
 * @param store of the configuration store: a conditional write that succeeded; null if there was none
 * @param members of the other members
 */
public record Votes(@Nullable ClockReading store, SlotReadings members) {
    public static final Votes NONE = new Votes(null, SlotReadings.NONE);

    /**
     * After the store answered a write on condition that the configuration is the manager's.
     *
     * @param accepted false if the condition did not hold: no vote, there is a later configuration
     * @param sentAt the manager's clocks before sending
     * @param now at the receipt; an answer that was asked for later than this is of another process, and counts nothing
     */
    public Votes storeAnswered(boolean accepted, ClockReading sentAt, ClockReading now) {
        if (!accepted || now.leastNsSince(sentAt) < 0) {
            return this;
        }
        return new Votes(store == null ? sentAt : sentAt.orLater(store), members);
    }

    /** After a member confirmed; the request carries the reading before its sending. */
    public Votes confirmedBy(ConfirmationRequest request, ClockReading now) {
        if (now.leastNsSince(request.sentAt()) < 0) {
            return this;
        }
        return new Votes(store, members.noting(request.slot(), request.sentAt()));
    }

    /**
     * The latest reading since which a quorum has confirmed: the manager with the store, or all members. Null if no
     * quorum ever did.
     *
     * @param self the manager's slot; it stops being one when it promises another term
     * @param writePending a write of the manager has no known outcome. It may have added a member, which may stand and
     *     win with the store, so all members known to the manager are no quorum
     * @param now a sole member confirms itself
     */
    public @Nullable ClockReading confirmedFrom(Electorate stored, int self, boolean writePending, ClockReading now) {
        final ClockReading all = writePending ? null : allMembers(stored, self, now);
        if (all == null) {
            return store;
        }
        return store == null ? all : all.orLater(store);
    }

    private @Nullable ClockReading allMembers(Electorate stored, int self, ClockReading now) {
        ClockReading earliest = now;
        for (int member : stored.members()) {
            if (member != self) {
                final ClockReading confirmed = members.at(member);
                if (confirmed == null) {
                    return null;
                }
                earliest = earliest.leastNsSince(confirmed) > 0 ? confirmed : earliest;
            }
        }
        return earliest;
    }
}
