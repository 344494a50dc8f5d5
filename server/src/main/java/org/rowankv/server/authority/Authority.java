package org.rowankv.server.authority;

import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * What one server may do in its cluster: vote, hold a lease, stand, manage. The rules between these parts stand here.
 * Immutable: its one thread keeps the newest value, and any thread may ask an older one, which permits no more than its
 * lease.
 *
 * @param times of the cluster
 * @param voter its promise and lease
 * @param committed the newest term whose roles it has taken over, ≤ the prepared one; 0 before the first
 * @param candidacy while it tries to become the manager
 * @param manager while it is
 */
public record Authority(
        LeaseTimes times,
        Voter voter,
        long committed,
        @Nullable Candidacy candidacy,
        @Nullable ManagerTerm manager) {

    /**
     * Whether it may answer a read now, from a shard that it has open.
     *
     * @param now read after the request arrived
     */
    public boolean mayAnswer(ClockReading now) {
        final Lease lease = voter.lease();
        return lease != null && lease.holds(now, times) || manager != null && manager.isConfirmed(now, times);
    }

    public LeaseRequest request(ClockReading now) {
        return new LeaseRequest(voter.slot(), voter.incarnation(), now);
    }

    /** After a grant arrived; one that it may not take changes nothing. */
    public Authority granted(LeaseGrant grant, ClockReading now) {
        return voter.accepts(grant, now, times) ? with(voter.granted(grant)) : this;
    }

    /** After it confirmed a manager, which it must have been permitted to: {@link Voter#confirms}. */
    public Authority confirmed(ConfirmationRequest request, ClockReading now) {
        return with(voter.confirmed(request, now));
    }

    /**
     * Whether it may prepare that configuration of another manager. One's own is prepared by {@link #written} and
     * {@link #elected}, when its outcome is known.
     */
    public boolean mayPrepare(Electorate stored) {
        return voter.mayPrepare(stored) && !stored.isManagedBy(voter.slot(), voter.incarnation());
    }

    /** After it prepared the configuration of another manager. */
    public Authority preparing(Electorate stored) {
        return with(voter.preparing(stored));
    }

    /** After COMMIT of that term arrived; one that it has not prepared, or has left behind, changes nothing. */
    public Authority committing(long term) {
        return voter.preparedTerm() == term && voter.promise() <= term
                ? new Authority(times, voter, term, candidacy, manager)
                : this;
    }

    /** After a linearizable read of the store, before it stands. */
    public Authority read(Electorate stored, StoreVersions versions, ClockReading now) {
        if (manager != null || candidacy != null && candidacy.isStanding()) {
            return this;
        }
        final Candidacy next =
                candidacy == null ? Candidacy.read(stored, versions, now) : candidacy.readAgain(stored, versions, now);
        return new Authority(times, voter, committed, next, null);
    }

    /** Whether it may stand with what it has read. */
    public boolean mayStand() {
        return manager == null
                && candidacy != null
                && !candidacy.isStanding()
                && candidacy.stored().term() + 1 >= voter.promise()
                && voter.mayStand(candidacy.stored());
    }

    /**
     * Before it sends to the store that it is the manager of the next term.
     *
     * @param excluded members that the next term does not have
     */
    public Authority standing(Collection<Integer> excluded, ClockReading now) {
        final Candidacy before = candidacy;
        if (before == null || !mayStand()) {
            throw new IllegalStateException("server " + voter.slot() + " may not stand: " + candidacy);
        }
        final Electorate next = before.stored().succeeded(voter.slot(), voter.incarnation(), excluded);
        return new Authority(times, voter.standing(next.term()), committed, before.standing(next, now), null);
    }

    /** After it knows that its candidacy succeeded. It manages, unless it has promised a later term meanwhile. */
    public Authority elected() {
        final Candidacy won = candidacy;
        if (won == null || won.proposed() == null || won.sentAt() == null) {
            throw new IllegalStateException("server " + voter.slot() + " did not stand");
        }
        if (voter.promise() > won.proposed().term()) {
            return notElected();
        }
        return new Authority(
                times,
                voter.preparing(won.proposed()),
                committed,
                null,
                ManagerTerm.elected(won, won.proposed(), won.sentAt(), voter.lastConfirmation(), committed));
    }

    /** After it knows that its candidacy failed, or gives up. What it promised it has promised. */
    public Authority notElected() {
        return new Authority(times, voter, committed, null, manager);
    }

    /** After the manager knows that its pending configuration is stored. */
    public Authority written() {
        final ManagerTerm next = managing().written();
        return new Authority(times, voter.preparing(next.stored()), committed, candidacy, next);
    }

    /** After the manager knows that another configuration is stored: it is none any more. */
    public Authority superseded() {
        return new Authority(times, voter, committed, candidacy, null);
    }

    /** With a later state of its term as the manager. */
    public Authority with(ManagerTerm next) {
        return new Authority(times, voter, committed, candidacy, next);
    }

    /**
     * The manager's part.
     *
     * @throws IllegalStateException if it does not manage
     */
    public ManagerTerm managing() {
        if (manager == null) {
            throw new IllegalStateException("server " + voter.slot() + " is not the manager");
        }
        return manager;
    }

    /** A manager that promises another term has ended: no quorum contains it any more. */
    private Authority with(Voter next) {
        final boolean over =
                manager != null && next.promise() > manager.stored().term();
        return new Authority(times, next, committed, candidacy, over ? null : manager);
    }
}
