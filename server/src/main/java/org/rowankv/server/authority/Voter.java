package org.rowankv.server.authority;

import org.jspecify.annotations.Nullable;

/**
 * One server as a voter and as the holder of a lease. Immutable; a change is a new value. {@code promise} and {@code
 * prepared} must be durable before what they answer is sent.
 *
 * @param slot of the server
 * @param incarnation of this process
 * @param promise the highest term that it confirmed, prepared or stood for. It never falls; a manager of a lower term
 *     gets nothing from this server, and a lease of a lower term is not taken
 * @param prepared the newest configuration that it prepared: it fenced what this one does not name. Null before the first
 * @param lastConfirmation when it last confirmed a manager; before that, the start of the process, since an earlier
 *     process may have confirmed until then
 * @param lease the latest lease; null if there was none since it stood
 */
public record Voter(
        int slot,
        long incarnation,
        long promise,
        @Nullable Electorate prepared,
        ClockReading lastConfirmation,
        @Nullable Lease lease) {

    /** A process that starts with what the one before it made durable. */
    public static Voter started(
            int slot, long incarnation, long promise, @Nullable Electorate prepared, ClockReading now) {
        return new Voter(slot, incarnation, promise, prepared, now, null);
    }

    /** The term of what it prepared; 0 before the first. */
    public long preparedTerm() {
        return prepared == null ? 0 : prepared.term();
    }

    /** Whether it may confirm the sender. A restarted process is no voter of a term that names the one before. */
    public boolean confirms(ConfirmationRequest request) {
        return request.term() >= promise && request.slot() == slot && request.incarnation() == incarnation;
    }

    /** After it confirmed. */
    public Voter confirmed(ConfirmationRequest request, ClockReading now) {
        return new Voter(slot, incarnation, Math.max(promise, request.term()), prepared, now, lease);
    }

    /** Whether it may prepare that stored configuration: not lower than its promise, and it is a member. */
    public boolean mayPrepare(Electorate stored) {
        return stored.term() >= promise && stored.names(slot, incarnation);
    }

    /** After it prepared: it has a fence against everything that the configuration does not name. */
    public Voter preparing(Electorate stored) {
        return new Voter(slot, incarnation, stored.term(), stored, lastConfirmation, lease);
    }

    /**
     * Whether it may stand against the manager of a stored configuration. To have read its own name there is not
     * enough: the manager may not know yet that it was stored, and count quorums of the configuration before, in which
     * this server has no vote.
     */
    public boolean mayStand(Electorate stored) {
        return stored.isMember(slot) && prepared != null && prepared.names(slot, stored.incarnation(slot));
    }

    /**
     * When it stands, and before it sends anything: it confirms no manager before that term, and gives up its lease,
     * since its own confirmation as a manager takes the place of it.
     */
    public Voter standing(long term) {
        return new Voter(slot, incarnation, Math.max(promise, term), prepared, lastConfirmation, null);
    }

    /** Whether it may take that grant: of the term that it prepared, not below its promise, and not over yet. */
    public boolean accepts(LeaseGrant grant, ClockReading now, LeaseTimes times) {
        return grant.term() >= promise
                && grant.term() == preparedTerm()
                && grant.request().slot() == slot
                && grant.request().incarnation() == incarnation
                && new Lease(grant.request().sentAt()).holds(now, times);
    }

    /** After it took the grant. */
    public Voter granted(LeaseGrant grant) {
        final ClockReading from = grant.request().sentAt();
        return new Voter(
                slot,
                incarnation,
                promise,
                prepared,
                lastConfirmation,
                new Lease(lease == null ? from : from.orLater(lease.from())));
    }

    /** Whether what a process sends to this server's log may land: the fence. */
    public boolean admits(int sender, long itsIncarnation) {
        return prepared != null && prepared.names(sender, itsIncarnation);
    }
}
