package org.rowankv.server.manager;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.concurrent.LatencyHistogram;
import org.rowankv.server.authority.Authority;
import org.rowankv.server.authority.ClockReading;
import org.rowankv.server.authority.ConfirmationRequest;
import org.rowankv.server.authority.Electorate;
import org.rowankv.server.authority.Grants;
import org.rowankv.server.authority.Lease;
import org.rowankv.server.authority.LeaseGrant;
import org.rowankv.server.authority.LeaseRequest;
import org.rowankv.server.authority.LeaseTimes;
import org.rowankv.server.authority.ManagerTerm;
import org.rowankv.server.authority.Voter;
import org.rowankv.server.membership.ClusterException;
import org.rowankv.server.peer.PeerMessageDescriptor;
import org.rowankv.server.peer.PeerRequestType;

/**
 * The authority of one incarnation of a server: requests its lease, confirms and grants those of others, and says
 * whether this server may answer without its backups. Keeps the newest {@link Authority}; each change is one step under
 * this object's monitor, which nothing waits in.
 *
 * <p>Thread-safe. Its own agent sends what is due; the agent of the messages delivers what arrives.
 */
public final class LeaseAgent implements Agent {
    /** Renewals within a lease: some may be lost. */
    private static final int RENEWALS = 5;

    private static final int PAYLOAD_LENGTH = 2 * Long.BYTES;

    /** Sends a message to another server; it may be lost. */
    public interface Sender {
        void send(int to, ByteBuffer message);
    }

    private final LeaseTimes times;
    private final Clock clock;
    private final Sender sender;
    /** Called when the manager, or the lack of one, needs the thread that changes configurations. */
    private final Runnable alarm;

    private final long renewNs;
    private Authority authority;
    private long nextNs;
    private long lastCycleNs;
    private final HeardMembers heard;
    /** Whether there is no connection to a server, and the last attempt failed. */
    private final IntPredicate isUnreachable;
    /** Members whose promise exceeds the present term: they can take no lease of it. */
    private final Set<Integer> promisedMore = new TreeSet<>();
    /** When the manager last granted this server a lease, or this server became a member of another term. */
    private long grantedNs;
    /** How long a lease lasts for the manager, if that is not what it lasts here; 0: it is, as far as known. */
    private long otherLeaseNs;
    /** The manager confirms itself through the store while a member does not. */
    private boolean needsStoreVote;

    private boolean active;

    /** Ends of the permission to answer, by either clock. Written under the monitor, the second one last. */
    private long answersUntilMs = Long.MIN_VALUE;

    private volatile long answersUntilNs;
    private volatile boolean mayAnswer;
    /** Whether it was ever permitted to answer. */
    private boolean hasAnswered;
    /** How much of a lease was left when it was renewed, 0 if nothing. Recorded under the monitor. */
    private final LatencyHistogram margins;

    /**
     * @param isUnreachable whether there is no connection to a server, and the last attempt failed
     * @param margins receives how much of each lease was left when it was renewed; 0 if it was over
     */
    public LeaseAgent(
            int slot,
            int servers,
            long incarnation,
            LeaseTimes times,
            Clock clock,
            Sender sender,
            IntPredicate isUnreachable,
            Runnable alarm,
            LatencyHistogram margins) {
        this.times = times;
        this.clock = clock;
        this.sender = sender;
        this.isUnreachable = isUnreachable;
        this.alarm = alarm;
        this.margins = margins;
        this.renewNs = Math.max(1, times.leaseNs() / RENEWALS);
        final ClockReading now = ClockReading.of(clock);
        this.authority = new Authority(times, Voter.started(slot, incarnation, 0, null, now), 0, null, null);
        this.heard = new HeardMembers(servers);
        this.nextNs = now.monotonicNs();
        this.lastCycleNs = nextNs;
        this.grantedNs = nextNs;
    }

    // --- permission ---

    /** Whether this server may answer a request that has arrived already without asking its backups. */
    public boolean mayAnswer() {
        if (!mayAnswer) {
            return false;
        }
        final long untilNs = answersUntilNs;
        return clock.nanoTime() - untilNs < 0 && clock.wallMs() < answersUntilMs;
    }

    private void publish(ClockReading now) {
        ClockReading from = null;
        final Lease lease = authority.voter().lease();
        if (lease != null && lease.holds(now, times)) {
            from = lease.from();
        }
        final ManagerTerm manager = authority.manager();
        if (manager != null && manager.isConfirmed(now, times)) {
            final ClockReading confirmed = manager.votes()
                    .confirmedFrom(manager.stored(), manager.stored().manager(), manager.pending() != null, now);
            from = from == null || confirmed == null ? confirmed : from.orLater(confirmed);
        }
        if (!active || from == null) {
            mayAnswer = false;
            return;
        }
        final long untilNs = from.monotonicNs() + times.leaseNs();
        if (hasAnswered && untilNs - answersUntilNs > 0) {
            margins.record(answersUntilNs - now.monotonicNs(), 1);
        }
        hasAnswered = true;
        // Shorter of both while they change: a reader may see one of each.
        answersUntilMs = from.wallMs() + TimeUnit.NANOSECONDS.toMillis(times.leaseNs());
        answersUntilNs = untilNs;
        mayAnswer = true;
    }

    // --- the state of the thread that changes configurations ---

    public synchronized Authority authority() {
        return authority;
    }

    public LeaseTimes times() {
        return times;
    }

    public ClockReading now() {
        return ClockReading.of(clock);
    }

    /** A step of the authority. */
    public synchronized Authority change(UnaryOperator<Authority> step) {
        final long before = authority.voter().preparedTerm();
        authority = step.apply(authority);
        final ClockReading now = now();
        if (authority.voter().preparedTerm() != before) {
            grantedNs = now.monotonicNs(); // patience begins anew with each term
            promisedMore.clear();
            final Electorate prepared = authority.voter().prepared();
            heard.begin(prepared == null ? List.of() : prepared.members(), now.monotonicNs());
            if (active && before > 0 && prepared != null && authority.manager() == null) {
                requestLease(prepared); // the lease of a lost manager's term is about to end
            }
        }
        publish(now);
        return authority;
    }

    /**
     * This server has prepared that configuration.
     *
     * @param committed whether it has committed it too, as after a common start
     */
    public synchronized void started(Electorate stored, boolean committed, @Nullable ManagerTerm managing) {
        final Voter voter = authority.voter().preparing(stored);
        active = true;
        final Authority unused =
                change(before -> new Authority(times, voter, committed ? stored.term() : 0, null, managing));
    }

    /** From now on nothing is granted, confirmed or answered. */
    public synchronized void end() {
        active = false;
        mayAnswer = false;
    }

    public boolean isManager() {
        return authority().manager() != null;
    }

    /**
     * Members that this manager has not heard in both directions for that long, as long as this agent itself has run. None
     * while most of the others may be on another side of a split.
     */
    public synchronized Set<Integer> silent(long ns) {
        final ManagerTerm manager = authority.manager();
        final long nowNs = clock.nanoTime();
        if (manager == null || nowNs - lastCycleNs > times.leaseNs() / 2 || !actsOnSilence(manager, nowNs)) {
            return Set.of();
        }
        return heard.silent(others(manager), ns, nowNs);
    }

    private boolean actsOnSilence(ManagerTerm manager, long nowNs) {
        return heard.actsOnSilence(others(manager), isUnreachable, times.leaseNs() / 2, nowNs);
    }

    private List<Integer> others(ManagerTerm manager) {
        return manager.stored().members().stream()
                .filter(member -> member != authority.voter().slot())
                .toList();
    }

    /** A server that is about to be added is silent for a while, until it knows. */
    synchronized void awaitArrival(int server) {
        heard.awaitArrival(server);
    }

    /** Whether a member has promised a later term than the manager's, and can take no lease of it. */
    public synchronized boolean isOutbid() {
        return !promisedMore.isEmpty();
    }

    public synchronized boolean needsStoreVote() {
        return needsStoreVote;
    }

    /** For how long the manager, another server, has granted nothing, as long as this agent itself has run. */
    public synchronized long ungrantedNs() {
        final long nowNs = clock.nanoTime();
        return authority.manager() != null || nowNs - lastCycleNs > times.leaseNs() / 2 ? 0 : nowNs - grantedNs;
    }

    /** Whether a renewal is overdue, or several. */
    public boolean isRenewalOverdue() {
        return ungrantedNs() > overdueNs();
    }

    /** Whether this server, if another one asks, has heard nothing of the manager for so long that it may be replaced. */
    public boolean missesManager() {
        return ungrantedNs() >= times.leaseNs() / 2;
    }

    /** @throws ClusterException if the manager grants leases of another length than this server relies on */
    public synchronized void requireManagersLease() {
        if (otherLeaseNs != 0) {
            throw new ClusterException("this server has lease " + ms(times.leaseNs()) + " ms, but the manager has "
                    + ms(otherLeaseNs) + " ms: start this one with --lease=" + ms(otherLeaseNs)
                    + ", or stop all servers and start them with the same");
        }
    }

    private static long ms(long ns) {
        return TimeUnit.NANOSECONDS.toMillis(ns);
    }

    // --- what is due ---

    @Override
    public String roleName() {
        return "leases";
    }

    @Override
    public int doWork() {
        final long nowNs = clock.nanoTime();
        if (nowNs - nextNs < 0) {
            alarmIfOverdue();
            return 0;
        }
        nextNs = nowNs + renewNs;
        return renew(nowNs) ? 1 : 0;
    }

    private synchronized boolean renew(long nowNs) {
        if (!active) {
            lastCycleNs = nowNs;
            return false;
        }
        if (nowNs - lastCycleNs > times.leaseNs() / 2) {
            // This process stood still: others may have been heard meanwhile, and the manager's silence does not count.
            heard.pass(nowNs);
            final long ungrantedNs = Math.max(0, lastCycleNs - grantedNs);
            grantedNs = nowNs - ungrantedNs;
        }
        lastCycleNs = nowNs;
        final ClockReading now = now();
        final ManagerTerm manager = authority.manager();
        publish(now);
        if (manager != null) {
            grantedNs = nowNs; // patience with a successor begins when this term is over
            askToConfirm(manager, nowNs);
            needsStoreVote = !isConfirmedByMembers(manager, now) && actsOnSilence(manager, nowNs);
            if (needsStoreVote
                    || !promisedMore.isEmpty()
                    || !silent(times.leaseNs()).isEmpty()) {
                alarm.run();
            }
            return true;
        }
        heard.awaitNone();
        final Electorate prepared = authority.voter().prepared();
        if (prepared != null) {
            requestLease(prepared);
        }
        alarmIfOverdue();
        return true;
    }

    /** Also between renewals: the candidate stands as soon as that is due. */
    private void alarmIfOverdue() {
        if (isRenewalOverdue()) {
            alarm.run();
        }
    }

    /** With time to spare for a vote of the store. */
    private boolean isConfirmedByMembers(ManagerTerm manager, ClockReading now) {
        for (int member : manager.stored().members()) {
            final ClockReading confirmed = manager.votes().members().at(member);
            if (member != authority.voter().slot()
                    && (confirmed == null || now.mostNsSince(confirmed) > times.leaseNs() / 2)) {
                return false;
            }
        }
        return manager.pending() == null;
    }

    private void requestLease(Electorate prepared) {
        final ClockReading sentAt = now();
        send(
                prepared.manager(),
                PeerRequestType.LEASE,
                false,
                prepared.term(),
                sentAt,
                authority.voter().promise());
    }

    /** One that it does not hear, and so gives no lease, is not to confirm it: another manager waits for that. */
    private void askToConfirm(ManagerTerm manager, long nowNs) {
        for (int member : others(manager)) {
            final long unheard = heard.hears(member, overdueNs(), nowNs) ? 0 : 1;
            send(member, PeerRequestType.CONFIRM, false, manager.stored().term(), now(), unheard);
        }
    }

    private long overdueNs() {
        return renewNs + renewNs / 2;
    }

    private void send(int to, int question, boolean answer, long term, ClockReading reading, long promise) {
        final ByteBuffer payload = ByteBuffer.allocate(PAYLOAD_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        payload.putLong(reading.wallMs()).putLong(promise).flip();
        final ByteBuffer message =
                PeerMessageDescriptor.write(question, answer, 0, term, times.leaseNs(), reading.monotonicNs(), payload);
        sender.send(to, message);
    }

    @Override
    public long idleNs() {
        return isRenewalOverdue() ? renewNs / 4 : renewNs / 2;
    }

    // --- what arrives ---

    /** A message about leases of that process of a member. */
    synchronized void onMessage(int from, long incarnation, ByteBuffer message) {
        final ByteBuffer payload = PeerMessageDescriptor.payload(message);
        if (!active || payload.remaining() != PAYLOAD_LENGTH) {
            return;
        }
        final long leaseNs = PeerMessageDescriptor.number(message);
        if (leaseNs != times.leaseNs() && leaseNs != 0) { // 0: of a version that does not say it
            meets(from, leaseNs);
            return;
        }
        final ClockReading sentAt = new ClockReading(PeerMessageDescriptor.argument(message), payload.getLong(0));
        final long term = PeerMessageDescriptor.term(message);
        final boolean answer = PeerMessageDescriptor.isAnswer(message);
        if (PeerMessageDescriptor.question(message) == PeerRequestType.LEASE) {
            if (answer) {
                granted(from, term, sentAt);
            } else {
                requested(from, incarnation, term, sentAt, payload.getLong(Long.BYTES));
            }
        } else if (answer) {
            confirmed(from, incarnation, term, sentAt);
        } else {
            confirm(from, incarnation, term, sentAt, payload.getLong(Long.BYTES) != 0);
        }
        publish(now());
    }

    /** A member with a longer lease than the manager grants would still answer when it is excluded. */
    private void meets(int from, long leaseNs) {
        final Electorate prepared = authority.voter().prepared();
        if (authority.manager() == null && prepared != null && prepared.manager() == from) {
            otherLeaseNs = leaseNs;
            alarm.run();
        }
    }

    private void requested(int from, long incarnation, long term, ClockReading sentAt, long promise) {
        ManagerTerm manager = authority.manager();
        if (manager == null || !manager.stored().names(from, incarnation)) {
            return;
        }
        final ClockReading arrived = now();
        heard.requested(from, Math.max(term, promise) == manager.stored().term(), arrived.monotonicNs());
        if (promise > manager.stored().term()) {
            promisedMore.add(from);
        }
        if (term != manager.stored().term()) {
            return; // it has not prepared this term yet
        }
        if (!heard.isHeardBy(from, overdueNs(), arrived.monotonicNs())) {
            return; // the lease would not reach it, but an exclusion had to wait for its end
        }
        manager = manager.receive(new LeaseRequest(from, incarnation, sentAt), arrived);
        final ClockReading confirmedAt = now();
        if (!manager.isConfirmed(confirmedAt, times)) {
            return; // it asks again
        }
        final Grants.Checked checked = manager.grant(confirmedAt);
        authority = authority.with(manager.with(checked.next()));
        for (LeaseGrant grant : checked.grants()) {
            send(
                    grant.request().slot(),
                    PeerRequestType.LEASE,
                    true,
                    grant.term(),
                    grant.request().sentAt(),
                    0);
        }
    }

    private void granted(int from, long term, ClockReading sentAt) {
        final Electorate prepared = authority.voter().prepared();
        final ClockReading now = now();
        if (prepared != null && prepared.manager() == from && now.leastNsSince(sentAt) >= 0) {
            final Voter voter = authority.voter();
            final LeaseGrant grant = new LeaseGrant(term, new LeaseRequest(voter.slot(), voter.incarnation(), sentAt));
            if (voter.accepts(grant, now, times)) {
                authority = authority.granted(grant, now);
                grantedNs = now.monotonicNs();
            }
        }
    }

    /** Only what this server has prepared, which is durable: so is the promise. */
    private void confirm(int from, long incarnation, long term, ClockReading sentAt, boolean isUnheard) {
        final Voter voter = authority.voter();
        final Electorate prepared = voter.prepared();
        final ConfirmationRequest request = new ConfirmationRequest(term, voter.slot(), voter.incarnation(), sentAt);
        if (prepared != null
                && !isUnheard
                && prepared.term() == term
                && prepared.isManagedBy(from, incarnation)
                && voter.confirms(request)) {
            authority = authority.confirmed(request, now());
            send(from, PeerRequestType.CONFIRM, true, term, sentAt, 0);
        }
    }

    private void confirmed(int from, long incarnation, long term, ClockReading sentAt) {
        final ManagerTerm manager = authority.manager();
        if (manager != null && manager.stored().names(from, incarnation)) {
            final ClockReading now = now();
            authority =
                    authority.with(manager.confirmedBy(new ConfirmationRequest(term, from, incarnation, sentAt), now));
            if (term == manager.stored().term()) {
                heard.confirmed(from, now.monotonicNs());
            }
        }
    }
}
