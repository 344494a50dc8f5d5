package org.rowankv.server.authority;

import java.util.ArrayList;
import java.util.List;

/**
 * The requests for leases that a manager has received, and its answers. Immutable.
 *
 * @param received requests without an answer, one per slot
 * @param answered by slot: the manager's clocks when it last granted that server a lease
 */
public record Grants(List<Received> received, SlotReadings answered) {
    public static final Grants NONE = new Grants(List.of(), SlotReadings.NONE);

    public Grants {
        received = List.copyOf(received);
    }

    /**
     * A request that waits for the next check.
     *
     * @param at the manager's clocks at or after its receipt
     */
    public record Received(LeaseRequest request, ClockReading at) {}

    /**
     * The result of a check.
     *
     * @param next what to keep
     * @param grants what to send
     */
    public record Checked(Grants next, List<LeaseGrant> grants) {}

    /** After a request arrived; it replaces an earlier one of that server. */
    public Grants receive(LeaseRequest request, ClockReading now) {
        final List<Received> more = new ArrayList<>(received);
        more.removeIf(each -> each.request().slot() == request.slot());
        more.add(new Received(request, now));
        return new Grants(more, answered);
    }

    /**
     * Grants what was received before the manager was confirmed. Later requests remain: a lease counts from the sending
     * of its request, and must not begin after the confirmation that it was granted under.
     *
     * @param confirmedAt the reading at which the manager found itself confirmed; it may have paused since
     */
    public Checked grant(Electorate stored, ClockReading confirmedAt) {
        final List<Received> left = new ArrayList<>();
        final List<LeaseGrant> grants = new ArrayList<>();
        SlotReadings answers = answered;
        for (Received each : received) {
            final int slot = each.request().slot();
            if (confirmedAt.leastNsSince(each.at()) < 0) {
                left.add(each);
            } else if (stored.names(slot, each.request().incarnation()) && slot != stored.manager()) {
                grants.add(new LeaseGrant(stored.term(), each.request()));
                answers = answers.noting(slot, confirmedAt);
            }
        }
        return new Checked(new Grants(left, answers), grants);
    }
}
