package org.rowankv.server.authority;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A server's time as the configuration's manager, from its election until it promises the term of another one.
 * Immutable.
 *
 * @param stored its newest configuration that it knows to be stored. Only this one's members are voters, and are granted
 *     leases
 * @param pending its next configuration, sent to the store without a known outcome; else null
 * @param sentAt its clocks before it sent {@code pending}; null without one
 * @param votes of the term of {@code stored}
 * @param grants requests and answers
 * @param commitWait for leases of former managers
 */
public record ManagerTerm(
        Electorate stored,
        @Nullable Electorate pending,
        @Nullable ClockReading sentAt,
        Votes votes,
        Grants grants,
        CommitWait commitWait) {

    /**
     * The term of a candidate whose write succeeded, and which has prepared it itself.
     *
     * @param lastConfirmation the candidate's, as a voter
     * @param committed the term that it had committed when it stood
     */
    static ManagerTerm elected(
            Candidacy candidacy,
            Electorate proposed,
            ClockReading sentAt,
            ClockReading lastConfirmation,
            long committed) {
        final boolean hadCommitted = committed == candidacy.stored().term();
        return new ManagerTerm(
                proposed,
                null,
                null,
                Votes.NONE.storeAnswered(true, sentAt, sentAt),
                Grants.NONE,
                new CommitWait(
                        candidacy.readAt().orLater(lastConfirmation),
                        hadCommitted ? candidacy.stored() : null,
                        Set.of(proposed.manager())));
    }

    /** Whether a quorum confirmed it within a lease: it may grant, and the same confirmation is its own lease. */
    public boolean isConfirmed(ClockReading now, LeaseTimes times) {
        final ClockReading from = votes.confirmedFrom(stored, stored.manager(), pending != null, now);
        return from != null && now.mostNsSince(from) < times.leaseNs();
    }

    /** The question to a member, with the clocks before sending. */
    public ConfirmationRequest ask(int member, ClockReading now) {
        return new ConfirmationRequest(stored.term(), member, stored.incarnation(member), now);
    }

    /** After a voter confirmed; an answer to a question of an earlier term of this manager counts nothing. */
    public ManagerTerm confirmedBy(ConfirmationRequest request, ClockReading now) {
        return request.term() == stored.term() ? withVotes(votes.confirmedBy(request, now)) : this;
    }

    /**
     * After the store answered a vote of this manager: a write on condition that its term's configuration is stored.
     *
     * @param term in which it was sent
     * @param accepted whether the condition held
     * @param before its clocks before sending
     */
    public ManagerTerm storeAnswered(long term, boolean accepted, ClockReading before, ClockReading now) {
        return term == stored.term() ? withVotes(votes.storeAnswered(accepted, before, now)) : this;
    }

    /** After a request for a lease arrived. */
    public ManagerTerm receive(LeaseRequest request, ClockReading now) {
        return with(grants.receive(request, now));
    }

    /**
     * The answers to requests that arrived before it found itself confirmed.
     *
     * @param confirmedAt a reading at which {@link #isConfirmed} was true, of this term
     */
    public Grants.Checked grant(ClockReading confirmedAt) {
        return grants.grant(stored, confirmedAt);
    }

    /** Before it sends its next configuration to the store, on condition of the version of {@code stored}. */
    public ManagerTerm proposing(Electorate next, ClockReading now) {
        if (pending != null) {
            throw new IllegalStateException(
                    "the outcome of term " + pending.term() + " is not known yet: read it first");
        }
        return new ManagerTerm(stored, next, now, votes, grants, commitWait);
    }

    /** After it knows that the pending configuration is stored, which is a vote of the store for the new term. */
    public ManagerTerm written() {
        if (pending == null || sentAt == null) {
            throw new IllegalStateException("nothing was sent to the store");
        }
        return new ManagerTerm(pending, null, null, Votes.NONE.storeAnswered(true, sentAt, sentAt), grants, commitWait);
    }

    /** After a member's process prepared {@code stored}. */
    public ManagerTerm preparedBy(int slot, long incarnation) {
        return new ManagerTerm(stored, pending, sentAt, votes, grants, commitWait.preparedBy(slot, incarnation));
    }

    /** Nanoseconds until COMMIT of {@code stored} may be sent; 0 if it may. */
    public long commitRemainingNs(ClockReading now, LeaseTimes times) {
        return commitWait.remainingNs(stored, grants.answered(), now, times);
    }

    /** With what a round of grants left. */
    public ManagerTerm with(Grants next) {
        return new ManagerTerm(stored, pending, sentAt, votes, next, commitWait);
    }

    private ManagerTerm withVotes(Votes next) {
        return new ManagerTerm(stored, pending, sentAt, next, grants, commitWait);
    }
}
